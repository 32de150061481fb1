package wire

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/HdrHistogram/hdrhistogram-go"
	"google.golang.org/protobuf/proto"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// honest is a measurement of ten requests, four of them rate limited.
func honest(t testing.TB) *workerv1.StepMeasurement {
	t.Helper()
	s := measure.NewStep(1)
	r := &s.Requests[0]
	l := measure.NewLedger()
	for i := range 10 {
		o := measure.Success
		if i < 4 {
			o = measure.RateLimited
		}
		r.Sent++
		r.Outcomes[o]++
		r.Response.Record(time.Duration(i) * time.Millisecond)
		r.Service.Record(time.Duration(i) * time.Millisecond)
		s.Lateness.Record(time.Duration(i) * time.Microsecond)
		l.Record(0, time.Duration(i), time.Duration(i)+time.Millisecond, o)
	}
	r.Expected, r.CompletedInWindow, r.ExpectedInWindow = 6, 10, 6
	s.Due = 10
	s.Clients = map[string]*measure.Ledger{"a": l}
	s.Errors = map[measure.Outcome]string{measure.RateLimited: "429"}
	s.Health.CPU = time.Second
	m, err := FromStep(s)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestToStepRefuses(t *testing.T) {
	type message = workerv1.StepMeasurement
	request := func(m *message) *workerv1.RequestMeasurement { return m.Requests[0] }
	slice := func(m *message) *workerv1.LedgerSlice { return m.Clients["a"].Slices[0] }
	for want, change := range map[string]func(*message){
		"requests: 0, the plan has 1":                           func(m *message) { m.Requests = nil },
		"requests: 2, the plan has 1":                           func(m *message) { m.Requests = append(m.Requests, m.Requests[0]) },
		"due: -1 is less than 0":                                func(m *message) { m.Due = -1 },
		"due: 281474976710657 is more than 281474976710656":     func(m *message) { m.Due = maxCount + 1 },
		"unsent: -1 is less than 0":                             func(m *message) { m.Unsent = -1 },
		"connections_opened: -1 is less than 0":                 func(m *message) { m.ConnectionsOpened = -1 },
		"reused: -1 is less than 0":                             func(m *message) { m.Reused = -1 },
		"untracked: -1 is less than 0":                          func(m *message) { m.Untracked = -1 },
		"start_unix_nanos: -1 is less than 0":                   func(m *message) { m.StartUnixNanos = -1 },
		"window_nanos: -1 is less than 0":                       func(m *message) { m.WindowNanos = -1 },
		"window_nanos: 8784h0m0.000000001s is more than":        func(m *message) { m.WindowNanos = int64(maxSpan) + 1 },
		"clock_error_nanos: -1 is less than 0":                  func(m *message) { m.ClockErrorNanos = -1 },
		"health.cpu_throttled_nanos: -1 is less than 0":         func(m *message) { m.Health.CpuThrottledNanos = -1 },
		"health.cpu_nanos: 8784h0m0.000000001s is more than":    func(m *message) { m.Health.CpuNanos = int64(maxSpan) + 1 },
		"health.gc_pause_max_nanos: -1 is less than 0":          func(m *message) { m.Health.GcPauseMaxNanos = -1 },
		"health.descriptors_exhausted: -1 is less than 0":       func(m *message) { m.Health.DescriptorsExhausted = -1 },
		"health.ports_exhausted: 281474976710657 is more than":  func(m *message) { m.Health.PortsExhausted = maxCount + 1 },
		"requests[0].sent: -1 is less than 0":                   func(m *message) { request(m).Sent = -1 },
		"requests[0].sent: 281474976710657 is more than":        func(m *message) { request(m).Sent = maxCount + 1 },
		"requests[0].outcomes: their sum is 10, sent is 11":     func(m *message) { request(m).Sent = 11 },
		"requests[0].outcomes: their sum is 9, sent is 10":      func(m *message) { request(m).Outcomes[0]-- },
		"requests[0].outcomes: 12 classes, there are 13":        func(m *message) { request(m).Outcomes = request(m).Outcomes[1:] },
		"requests[0].outcomes[timeout]: -1 is less than 0":      func(m *message) { request(m).Outcomes[measure.Timeout] = -1 },
		"requests[0].outcomes[other]: 11 is more than sent, 10": func(m *message) { request(m).Outcomes[measure.Other] = 11 },
		"requests[0].status_codes: 99 is no status code":        func(m *message) { request(m).StatusCodes = map[int32]int64{99: 10} },
		"requests[0].status_codes: 1000 is no status code":      func(m *message) { request(m).StatusCodes = map[int32]int64{1000: 10} },
		"status_codes[200]: 11 is more than completed, 10":      func(m *message) { request(m).StatusCodes = map[int32]int64{200: 11} },
		"requests[0].status_codes[200]: -1 is less than 1":      func(m *message) { request(m).StatusCodes = map[int32]int64{200: -1} },
		"requests[0].status_codes[503]: 0 is less than 1":       func(m *message) { request(m).StatusCodes = map[int32]int64{200: 10, 503: 0} },
		"requests[0].status_codes: their sum is 12, 10 complet": func(m *message) { request(m).StatusCodes = map[int32]int64{200: 6, 503: 6} },
		"requests[0].status_codes: their sum is 9, 10 complete": func(m *message) { request(m).StatusCodes = map[int32]int64{200: 9} },
		"requests[0].expected: 11 is more than completed, 10":   func(m *message) { request(m).Expected = 11 },
		"requests[0].expected: -1 is less than 0":               func(m *message) { request(m).Expected = -1 },
		"requests[0].late: 11 is more than sent, 10":            func(m *message) { request(m).Late = 11 },
		"completed_in_window: 11 is more than completed, 10":    func(m *message) { request(m).CompletedInWindow = 11 },
		"expected_in_window: 7 is more than expected, 6":        func(m *message) { request(m).ExpectedInWindow = 7 },
		"requests[0].response: clamped: 11 is more than count":  func(m *message) { request(m).Response.Clamped = 11 },
		"requests[0].service: clamped: -1 is less than 0":       func(m *message) { request(m).Service.Clamped = -1 },
		"requests[0].response: count: more than sent, 10":       func(m *message) { request(m).Response = histogramOf(t, 11) },
		"lateness: count: more than sent, 10":                   func(m *message) { m.Lateness = histogramOf(t, 11) },
		"lateness: truncated":                                   func(m *message) { m.Lateness.Encoded = "" },
		"lateness: illegal base64":                              func(m *message) { m.Lateness.Encoded = "!" },
		"lateness: 283649 bytes, more than 283648":              func(m *message) { m.Lateness.Encoded = strings.Repeat("A", MaxHistogramBytes+1) },
		`clients["a"].slices[0].granted: 11 is more than`:       func(m *message) { slice(m).Granted = 11 },
		`clients["a"].slices[0].denied: 5 is more than`:         func(m *message) { slice(m).Denied = 5 },
		`clients["a"].slices[0].unknown: -1 is less than 0`:     func(m *message) { slice(m).Unknown = -1 },
		"first_sent_nanos: -1 is less than 0":                   func(m *message) { slice(m).FirstSentNanos = -1 },
		"last_received_nanos: 1 is less than 2":                 func(m *message) { slice(m).FirstSentNanos, slice(m).LastReceivedNanos = 2, 1 },
		`clients["a"].slices: index 128 is not in 0..127`:       func(m *message) { m.Clients["a"].Slices[128] = &workerv1.LedgerSlice{} },
		`clients["a"].slices: index -1 is not in 0..127`:        func(m *message) { m.Clients["a"].Slices[-1] = &workerv1.LedgerSlice{} },
		`clients["a"].slices: 129, more than 128`: func(m *message) {
			for i := range int32(maxSlices + 1) {
				m.Clients["a"].Slices[i] = &workerv1.LedgerSlice{}
			}
		},
		"clients: 1001, more than 1000": func(m *message) {
			for i := range measure.MaxClients {
				m.Clients[fmt.Sprint("client ", i)] = &workerv1.Ledger{}
			}
		},
		"clients: a name of 257 bytes, more than 256": func(m *message) { m.Clients[strings.Repeat("x", measure.MaxClientBytes+1)] = &workerv1.Ledger{} },
		"what was sent and is not in another slice":   func(m *message) { m.Clients["b"] = m.Clients["a"] },
		"errors[0]: outcome 0 is not a failure":       func(m *message) { m.Errors[0].Outcome = 0 },
		"errors[0]: outcome 13 is not a failure":      func(m *message) { m.Errors[0].Outcome = 13 },
		"errors[0]: outcome -1 is not a failure":      func(m *message) { m.Errors[0].Outcome = -1 },
		"errors[1]: rateLimited comes twice":          func(m *message) { m.Errors = append(m.Errors, m.Errors[0]) },
	} {
		t.Run(want, func(t *testing.T) {
			m := honest(t)
			change(m)
			s, err := ToStep(m, 1)
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("ToStep: got %v, %v; want %q", s, err, want)
			}
		})
	}
	if _, err := ToStep(honest(t), 1); err != nil {
		t.Errorf("the honest one is refused: %v", err)
	}
	if _, err := ToStep(nil, 1); err == nil {
		t.Error("no measurement is accepted")
	}
}

func histogramOf(t testing.TB, n int) *workerv1.Histogram {
	t.Helper()
	h := measure.NewHistogram()
	for range n {
		h.Record(time.Millisecond)
	}
	encoded, err := h.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return &workerv1.Histogram{Encoded: encoded}
}

// encoding builds an encoded histogram that may be wrong in any part.
type encoding struct {
	outer, inner  uint32 // cookies
	digits        uint32
	lowest, high  uint64
	length        int // of the payload, added to the true one
	outerLength   int // of what is compressed, added to the true one
	payload, tail []byte
}

func right(payload ...int64) encoding {
	e := encoding{outer: compressedCookie, inner: cookie, digits: 3, lowest: 1, high: 3_600_000_000}
	for _, v := range payload {
		e.payload = appendVarint(e.payload, v)
	}
	return e
}

func (e encoding) String() string {
	b := make([]byte, header)
	binary.BigEndian.PutUint32(b, e.inner)
	binary.BigEndian.PutUint32(b[lengthAt:], uint32(len(e.payload)+e.length))
	binary.BigEndian.PutUint32(b[digitsAt:], e.digits)
	binary.BigEndian.PutUint64(b[lowestAt:], e.lowest)
	binary.BigEndian.PutUint64(b[highestAt:], e.high)
	var deflated bytes.Buffer
	w := zlib.NewWriter(&deflated)
	_, _ = w.Write(append(append(b, e.payload...), e.tail...))
	_ = w.Close()
	out := binary.BigEndian.AppendUint32(nil, e.outer)
	out = binary.BigEndian.AppendUint32(out, uint32(deflated.Len()+e.outerLength))
	return base64.StdEncoding.EncodeToString(append(out, deflated.Bytes()...))
}

func TestReadHistogramRefuses(t *testing.T) {
	change := func(f func(*encoding)) encoding {
		e := right(1, 2)
		f(&e)
		return e
	}
	for name, test := range map[string]struct {
		in   encoding
		want string
	}{
		"another format":          {change(func(e *encoding) { e.outer++ }), "V2 compressed"},
		"another inner format":    {change(func(e *encoding) { e.inner++ }), "V2 encoding"},
		"another precision":       {change(func(e *encoding) { e.digits = 5 }), "bounds differ from 1µs, 1h0m0s, 3 digits"},
		"another unit":            {change(func(e *encoding) { e.lowest = 1000 }), "bounds differ"},
		"another highest":         {change(func(e *encoding) { e.high = 1 << 62 }), "bounds differ"},
		"less than it says":       {change(func(e *encoding) { e.length = 1 }), "counts: unexpected EOF"},
		"more than it says":       {change(func(e *encoding) { e.tail = []byte{0} }), "more than the header says"},
		"a huge length":           {change(func(e *encoding) { e.length = maxPayload }), "bytes of counts, more than"},
		"a length below zero":     {change(func(e *encoding) { e.length = -3 }), "bytes of counts, more than"},
		"another outer length":    {change(func(e *encoding) { e.outerLength = 1 }), "the header says"},
		"an unfinished integer":   {change(func(e *encoding) { e.payload = []byte{2, 0x80} }), "truncated"},
		"too many slots":          {right(-slots, 1), "more than 23552 slots"},
		"too long a run":          {right(-slots - 1), "a run of 23553 zeros"},
		"the longest run":         {right(-1 << 63), "a run of 9223372036854775808 zeros"},
		"more than sent":          {right(1, 10), "count: more than sent, 10"},
		"a sum that overflows":    {right(5, 1<<63-1), "count: more than sent, 10"},
		"a value above the limit": {right(-(slots - 1), 1), "longer than 1h0m0s"},
	} {
		t.Run(name, func(t *testing.T) {
			h, err := readHistogram(&workerv1.Histogram{Encoded: test.in.String()}, 10)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("readHistogram: got %v, %v; want %q", h.count, err, test.want)
			}
		})
	}
}

// TestReadHistogramReadsWhatTheLibraryWrites: one value for each slot that the
// bounds have, and nothing.
func TestReadHistogramReadsWhatTheLibraryWrites(t *testing.T) {
	library := hdrhistogram.New(1, int64(measure.Highest/measure.Lowest), measure.SignificantDigits)
	want := int64(0)
	for v := int64(0); v <= library.HighestTrackableValue(); want++ {
		if err := library.RecordValues(v, want+1); err != nil {
			t.Fatal(err)
		}
		v++
		if v > 2048 {
			v = next(v)
		}
	}
	if want != lastSlot+1 {
		t.Errorf("slots within the bounds: got %d, want %d", want, lastSlot+1)
	}
	encoded, err := library.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	if err != nil {
		t.Fatal(err)
	}
	h, err := readHistogram(&workerv1.Histogram{Encoded: string(encoded)}, 1<<40)
	if err != nil {
		t.Fatal(err)
	}
	dense := make([]int64, slots)
	h.addTo(dense)
	for slot := range want {
		if dense[slot] != slot+1 {
			t.Fatalf("slot %d: got %d, want %d", slot, dense[slot], slot+1)
		}
	}
	if h.count != library.TotalCount() {
		t.Errorf("count: got %d, want %d", h.count, library.TotalCount())
	}
}

// next is the lowest value from v on that is in a slot of its own: a multiple of
// the power of two that is a 1024th of it.
func next(v int64) int64 {
	width := int64(1)
	for v/width >= 2048 {
		width *= 2
	}
	return (v + width - 1) / width * width
}

func TestVarint(t *testing.T) {
	for _, v := range []int64{0, 1, -1, 63, 64, -64, -65, 1 << 20, 1<<55 - 1, 1 << 55, -1 << 55, 1<<63 - 1, -1 << 63} {
		b := appendVarint(nil, v)
		got, n := readVarint(append(b, 0xff))
		if got != v || n != len(b) {
			t.Errorf("%d as % x: got %d of %d bytes", v, b, got, n)
		}
		if _, n := readVarint(b[:len(b)-1]); n != 0 {
			t.Errorf("% x without its end: got %d bytes", b, n)
		}
	}
}

func TestToStepCleansErrors(t *testing.T) {
	m := honest(t)
	m.Errors[0].Message = "bad\n" + strings.Repeat("ß", 300)
	s, err := ToStep(m, 1)
	if err != nil {
		t.Fatal(err)
	}
	got := s.Errors[measure.RateLimited]
	if len(got) > measure.MaxErrorBytes || !utf8.ValidString(got) || strings.ContainsFunc(got, unicode.IsControl) || !strings.HasPrefix(got, "badß") {
		t.Errorf("error text: %q", got)
	}
}

// FuzzToStep: whatever comes, ToStep returns, and what it accepts adds up.
func FuzzToStep(f *testing.F) {
	seed, err := proto.Marshal(honest(f))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(seed)
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		m := &workerv1.StepMeasurement{}
		if proto.Unmarshal(b, m) != nil {
			return
		}
		s, err := ToStep(m, 1)
		if err != nil {
			return
		}
		r := &s.Requests[0]
		var sum int64
		for _, n := range r.Outcomes {
			sum += n
		}
		if sum != r.Sent || r.Response.Count() > r.Sent || r.Service.Count() > r.Sent || s.Lateness.Count() > r.Sent || s.Due < 0 {
			t.Errorf("accepted what does not add up: %+v", s)
		}
		if _, err := FromStep(s); err != nil {
			t.Errorf("accepted what cannot be sent: %v", err)
		}
	})
}

// FuzzReadHistogram fuzzes the counts themselves, which are behind a checksum,
// and holds what is accepted against the library.
func FuzzReadHistogram(f *testing.F) {
	f.Add(right(1, -5, 3, 1<<40).payload)
	f.Add([]byte{0, 1, 2})
	f.Fuzz(func(t *testing.T, payload []byte) {
		e := right()
		e.payload = payload
		const sent = 1 << 45
		h, err := readHistogram(&workerv1.Histogram{Encoded: e.String()}, sent)
		if err != nil {
			return
		}
		want, err := measure.Decode(e.String(), 0)
		if err != nil {
			t.Fatalf("accepted what the library refuses: %v", err)
		}
		dense := make([]int64, slots)
		h.addTo(dense)
		got, err := denseHistogram(dense, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got.Count() != want.Count() || got.Max() != want.Max() || got.Min() != want.Min() || got.Mean() != want.Mean() {
			t.Errorf("count %d max %v mean %v, the library has %d, %v, %v", got.Count(), got.Max(), got.Mean(), want.Count(), want.Max(), want.Mean())
		}
	})
}
