package wire

import (
	"strings"
	"testing"
	"unsafe"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// shortKeys are counts of one byte each: so many values after so many empty slots.
func shortKeys(zeros, n uint64, many int) []uint64 {
	all := make([]uint64, many)
	for i := range all {
		all[i] = key(zeros, n)
	}
	return all
}

// Eight counts of a byte each are looked at as one number.
func TestEightShortCountsKeepTheBounds(t *testing.T) {
	const slots = uint64(measure.Slots)
	after := func(slot uint64, more ...uint64) []byte { return counts(append([]uint64{key(slot-1, 1)}, more...)...) }
	for name, test := range map[string]struct {
		in   []byte
		want string
	}{
		"up to the last slot":               {after(slots-8, shortKeys(0, 1, 8)...), ""},
		"with gaps up to the last slot":     {after(slots-32, shortKeys(3, 1, 8)...), ""},
		"in the middle, then the last slot": {after(1000, append(shortKeys(3, 1, 8), key(slots-1000-32-1, 1))...), ""},
		"in the middle, then one too many":  {after(1000, append(shortKeys(3, 1, 8), key(slots-1000-32, 1))...), "longer than 1h0m0s"},
		"beyond the last slot":              {after(slots-7, shortKeys(0, 1, 8)...), "longer than 1h0m0s"},
		"half of them beyond":               {after(slots-4, shortKeys(0, 1, 8)...), "longer than 1h0m0s"},
		"with gaps beyond":                  {after(slots-20, shortKeys(7, 1, 8)...), "longer than 1h0m0s"},
		"all that was sent":                 {after(1, append(shortKeys(0, 6, 8), shortKeys(0, 6, 8)[:7]...)...), ""},
		"sixteen, of all that was sent":     {after(1, append(shortKeys(0, 6, 15), key(0, 4))...), ""},
		"one more than was sent":            {after(1, append(shortKeys(0, 6, 15), key(0, 5))...), "more than sent, 95"},
		"more than was sent at once":        {after(1, append(shortKeys(0, 6, 8), shortKeys(0, 6, 8)...)...), "more than sent, 95"},
		"much more than was sent at once":   {after(1, shortKeys(0, 6, 24)...), "more than sent, 95"},
	} {
		t.Run(name, func(t *testing.T) {
			h, err := readHistogram(&workerv1.Histogram{Counts: test.in}, 95)
			switch {
			case test.want == "" && err != nil, test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
				t.Errorf("readHistogram: %v, want %q", err, test.want)
			case err == nil:
				dense := make([]int64, measure.Slots)
				h.addTo(dense)
				same.As(t, "after the way", test.in, encodeCounts(dense))
			}
		})
	}
}

// Eight bytes are short counts if each is one by itself, and their sums are theirs.
func TestEightShortCountsAreThoseOfEachByte(t *testing.T) {
	for value := range 256 {
		for _, other := range []byte{0x01, 0x7e, 0x0b} {
			for at := range 8 {
				b := []byte{other, other, other, other, other, other, other, other}
				b[at] = byte(value)
				_, _, size := shortCount(byte(value))
				eight, ok := shortCounts(b)
				if want := size == 1 && value&many != 0; ok != want {
					t.Fatalf("% x are short: %v, want %v", b, ok, want)
				}
				zeros, n := eight.sums()
				if wantZeros, wantN := value>>countBits+7*int(other>>countBits), value&many+7*int(other&many); ok && (zeros != uint64(wantZeros) || n != uint64(wantN)) {
					t.Fatalf("% x: %d empty slots and %d, want %d and %d", b, zeros, n, wantZeros, wantN)
				}
			}
		}
	}
	if _, ok := shortCounts(make([]byte, 7)); ok {
		t.Error("seven bytes are eight counts")
	}
}

func TestPairsAreCountsOfTwoBytes(t *testing.T) {
	for _, test := range []struct {
		low, high byte
		want      [3]uint64 // empty slots, count, size
	}{
		{0x81, 0x01, [3]uint64{16, 1, 2}},
		{0x80, 0x01, [3]uint64{16, 0, 2}},
		{0xfe, 0x7f, [3]uint64{2047, 6, 2}},
		{0x01, 0x01, [3]uint64{}}, // one byte
		{0x81, 0x80, [3]uint64{}}, // three
		{0x87, 0x01, [3]uint64{}}, // more of the count follows
		{0x81, 0x00, [3]uint64{}}, // overlong
	} {
		zeros, n, size := pairCount(test.low, test.high)
		if got := [3]uint64{zeros, n, uint64(size)}; got != test.want {
			t.Errorf("pairCount(%x, %x) = %v, want %v", test.low, test.high, got, test.want)
		}
	}
}

// A thousand workers have a reading each, for as long as their step lasts.
func TestReadingTakesTheMemoryOfItsCounts(t *testing.T) {
	m := honest(t)
	m.Journeys = append(m.Journeys, &workerv1.JourneyMeasurement{})
	r, err := Read(m, 1)
	must.Succeed(t, err)
	if got := cap(r.histograms); got != len(r.histograms) {
		t.Errorf("there is room for %d histograms, %d are there", got, len(r.histograms))
	}
	before := r.Size()
	streams := m.Requests[0].Streams
	streams.Ideal[0].Counts = counts(key(2000, 1)) // for the others, the measured ones stand
	r, err = Read(m, 1)
	must.Succeed(t, err)
	if took := r.Size() - before; took != len(streams.Ideal[0].Counts) {
		t.Errorf("ideal times of %d bytes take %d", len(streams.Ideal[0].Counts), took)
	}
	streams.Ideal[0].Counts = nil
	m.Requests[0].StatusCodes = map[int32]int64{200: 6, 429: 4}
	if r, err = Read(m, 1); err != nil || r.Size() != before+2*32 {
		t.Errorf("%v: %d bytes with two status codes, %d without", err, r.Size(), before)
	}
	fewer := len(m.Requests[0].Response.Counts) + len(m.Requests[0].Service.Counts)
	m.Requests[0].Response.Counts, m.Requests[0].Service.Counts = counts(key(1, 6), key(3000, 4)), counts(key(1, 7), 3)
	if r, err = Read(m, 1); err != nil || r.Size() != before+2*32+len(m.Requests[0].Response.Counts)+len(m.Requests[0].Service.Counts)-fewer {
		t.Errorf("%v: %d bytes", err, r.Size())
	}
	want := int(unsafe.Sizeof(measure.Request{})) + (perRequest+perStep)*int(unsafe.Sizeof(histogram{}))
	if none, err := Read(&workerv1.StepMeasurement{Requests: []*workerv1.RequestMeasurement{{Outcomes: make([]int64, measure.NumOutcomes)}}}, 1); err != nil || none.Size() != want {
		t.Errorf("%v: %d bytes of nothing, want %d", err, none.Size(), want)
	}
}

// Most targets answer as expected, and a histogram is large. A failure's time may be all that
// there is of its histogram.
func TestFailuresAloneHaveHistograms(t *testing.T) {
	one := &workerv1.Histogram{Counts: counts(key(0, 1))}
	for _, tt := range []struct {
		response, service *workerv1.Histogram
		want              int64
	}{{nil, nil, 0}, {one, nil, 1}, {nil, one, 1}} {
		m := honest(t)
		m.Requests[0].FailedResponse, m.Requests[0].FailedService = tt.response, tt.service
		s, err := Decode(m, 1)
		must.Succeed(t, err)
		if f := s.Requests[0].Failed; (f.Response != nil) != (tt.want > 0) || (f.Service != nil) != (tt.want > 0) || tt.want > 0 && f.Response.Count()+f.Service.Count() != tt.want {
			t.Errorf("%d times of failures: %+v", tt.want, f)
		}
	}
}
