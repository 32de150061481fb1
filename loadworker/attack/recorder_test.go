package attack

import (
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

const ms = time.Millisecond

func collect(t *testing.T, r *recorder) *measure.Measurement {
	t.Helper()
	s, err := r.collect()
	must.Succeed(t, err)
	return s
}

// Two recorders are what a worker has room for, whatever times they count.
func TestMemoryCoversTwoRecorders(t *testing.T) {
	used := func() int64 {
		var m runtime.MemStats
		runtime.GC() // twice, as pools are emptied by the second
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	for _, requests := range []int{1, 8, 32} {
		before := used()
		r := newRecorder(requests, time.Hour, nil, nil)
		for range 2 { // cells have two sets of histograms
			for shard := range r.shards {
				for i := range requests {
					h := hit{request: i, sent: measure.Highest}
					r.countSent(shard, &h)
					r.countEnd(shard, &h, result{outcome: measure.Success, received: 2 * measure.Highest})
					r.countEnd(shard, &h, result{outcome: measure.Timeout, received: 2 * measure.Highest})
				}
			}
			collect(t, r)
		}
		got, want := used()-before, Memory(requests, 0, 0)/2
		runtime.KeepAlive(r)
		if off := got - want; off > want/5 || -off > want/5 {
			t.Errorf("%d requests take %d bytes, Memory says %d", requests, got, want)
		}
	}
}

func TestLatenessIsTheGeneratorsOwn(t *testing.T) {
	tests := map[string]struct {
		h        hit
		lateness time.Duration
		late     int64
	}{
		"on time":                      {hit{due: 20 * ms, sent: 20 * ms}, 0, 0},
		"the generator was late":       {hit{due: 20 * ms, sent: 23 * ms}, 3 * ms, 0},
		"as late as is not late":       {hit{due: 20 * ms, sent: 30 * ms}, 10 * ms, 0},
		"late":                         {hit{due: 20 * ms, sent: 31 * ms}, 11 * ms, 1},
		"the user was busy":            {hit{due: 20 * ms, free: 200 * ms, sent: 200 * ms}, 0, 1},
		"busy, and the generator late": {hit{due: 20 * ms, free: 200 * ms, sent: 202 * ms}, 2 * ms, 1},
		"free long before":             {hit{due: 20 * ms, free: 5 * ms, sent: 21 * ms}, ms, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := newRecorder(1, time.Minute, nil, nil)
			r.countSent(0, &tt.h)
			s := collect(t, r)
			// Times below 2 ms are exact, those above to 0.1 %.
			off := (s.Lateness.Max() - tt.lateness).Abs()
			if s.Lateness.Count() != 1 || off > tt.lateness/1000 || s.Requests[0].Late != tt.late {
				t.Errorf("lateness %v, late %d; want %v, %d", s.Lateness.Max(), s.Requests[0].Late, tt.lateness, tt.late)
			}
		})
	}
}

func TestRecorderCountsEachOutcome(t *testing.T) {
	h := hit{due: 10 * ms, sent: 11 * ms}
	tests := map[string]struct {
		res      result
		expected int64
		inWindow [2]int64 // completed, expected
		counted  int64    // in the histograms
		codes    measure.StatusCodes
	}{
		"expected, in the window":   {result{received: 12 * ms, outcome: measure.Success, status: 201, expected: true, inWindow: true}, 1, [2]int64{1, 1}, 1, measure.StatusCodes{201: 1}},
		"expected, after it":        {result{received: 12 * ms, outcome: measure.Success, status: 201, expected: true}, 1, [2]int64{0, 0}, 1, measure.StatusCodes{201: 1}},
		"unexpected, in the window": {result{received: 12 * ms, outcome: measure.ServerError, status: 503, inWindow: true}, 0, [2]int64{1, 0}, 1, measure.StatusCodes{503: 1}},
		"denied, as expected":       {result{received: 12 * ms, outcome: measure.RateLimited, status: 429, expected: true, inWindow: true}, 1, [2]int64{1, 0}, 1, measure.StatusCodes{429: 1}},
		"a body that is wrong":      {result{received: 12 * ms, outcome: measure.BadResponse, status: 200, inWindow: true}, 0, [2]int64{0, 0}, 1, nil},
		"no response":               {result{received: 12 * ms, outcome: measure.Timeout, inWindow: true}, 0, [2]int64{0, 0}, 1, nil},
		"unfinished":                {result{received: 12 * ms, outcome: measure.Unfinished, inWindow: true}, 0, [2]int64{0, 0}, 0, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := newRecorder(1, time.Minute, nil, nil)
			r.countSent(0, &h)
			r.countEnd(0, &h, tt.res)
			q := collect(t, r).Requests[0]
			same.As(t, "outcomes", map[string]int64{tt.res.outcome.String(): 1}, outcomes(q))
			same.As(t, "status codes", tt.codes, q.StatusCodes)
			if q.Expected != tt.expected || q.CompletedInWindow != tt.inWindow[0] || q.ExpectedInWindow != tt.inWindow[1] {
				t.Errorf("expected %d, in the window %d and %d; want %d, %v", q.Expected, q.CompletedInWindow, q.ExpectedInWindow, tt.expected, tt.inWindow)
			}
			if q.Response.Count() != tt.counted || q.Service.Count() != tt.counted {
				t.Errorf("%d and %d times, want %d", q.Response.Count(), q.Service.Count(), tt.counted)
			}
			if tt.counted == 1 && (q.Response.Max().Round(ms) != 2*ms || q.Service.Max() != ms) {
				t.Errorf("response %v, service %v; want 2ms, 1ms", q.Response.Max(), q.Service.Max())
			}
		})
	}
}

// A denial that is expected is neither on time nor among the times of what is expected: it is
// often faster than a grant.
func TestAnExpectedDenialIsNoSuccess(t *testing.T) {
	r := newRecorder(1, time.Minute, []time.Duration{time.Second}, nil)
	denied := result{received: ms, outcome: measure.RateLimited, status: 429, expected: true, inWindow: true}
	granted := result{received: 20 * ms, outcome: measure.Success, status: 200, expected: true, inWindow: true}
	for _, res := range []result{denied, denied, granted} {
		h := hit{}
		r.countSent(0, &h)
		r.countEnd(0, &h, res)
	}
	q := collect(t, r).Requests[0]
	if q.Expected != 3 || q.Denied() != 2 || q.Successes() != 1 {
		t.Errorf("%d expected, %d denied and %d successes, want 3, 2 and 1", q.Expected, q.Denied(), q.Successes())
	}
	if q.OnTime[0] != 1 || q.IdealOnTime[0] != 1 {
		t.Errorf("%d on time, %d ideally, want 1 of each", q.OnTime[0], q.IdealOnTime[0])
	}
	response, _, ok := q.ExpectedTimes()
	ideal, alsoOK := q.ExpectedIdeally()
	if !ok || !alsoOK || response.Count() != 1 || ideal.Count() != 1 || response.Min() < 19*ms {
		t.Errorf("times of expected responses: %d from %v, want 1 of 20ms", response.Count(), response.Min())
	}
}

// Collecting must neither lose nor double what is counted meanwhile.
func TestCollectLosesNoConcurrentCount(t *testing.T) {
	const users, each = 8, 2000
	r := newRecorder(3, time.Minute, nil, newClientLedgers(time.Minute, measure.MaxLedgerBytes))
	var counting sync.WaitGroup
	for u := range users {
		counting.Go(func() {
			for i := range each {
				h := hit{request: i % 3, due: time.Duration(i) * ms, sent: time.Duration(i) * ms}
				r.countSent(u, &h)
				r.enterLedger(&h, []byte("c"))
				r.countEnd(u, &h, result{received: h.sent + ms, outcome: measure.Success, expected: true})
			}
		})
	}
	over := make(chan struct{})
	go func() {
		defer close(over)
		counting.Wait()
	}()
	for running := true; running; {
		select {
		case <-over:
			running = false
		default:
		}
		// The ledgers come first, since a request enters them last.
		clients := r.clients.all()
		s := collect(t, r)
		sent, audited := int64(0), int64(0)
		for i := range s.Requests {
			q := &s.Requests[i]
			sent += q.Sent
			if q.Outcomes[measure.Success]+q.Outcomes[measure.Unfinished] != q.Sent || q.Outcomes[measure.Unfinished] > users {
				t.Fatalf("request %d: sent %d, outcomes %v", i, q.Sent, outcomes(*q))
			}
		}
		if ledger := clients.Ledger("c"); ledger != nil {
			audited = ledger.Requests()
		}
		if audited > sent {
			t.Fatalf("the ledgers hold %d requests, %d were sent", audited, sent)
		}
	}
	if q := total(t, collect(t, r)); q.Sent != users*each || q.Response.Count() != users*each || q.Outcomes[measure.Unfinished] != 0 {
		t.Errorf("in the end %d sent, %d times, want %d", q.Sent, q.Response.Count(), users*each)
	}
}

func TestSamplesKeepTheFirstError(t *testing.T) {
	var s samples
	if s.all() != nil {
		t.Error("there are samples before the first failure")
	}
	asked := 0
	text := func() string {
		asked++
		return "why"
	}
	for range 3 {
		s.add(measure.Timeout, text)
	}
	s.add(measure.Reset, func() string { return "other" })
	want := map[measure.Outcome]string{measure.Timeout: "why", measure.Reset: "other"}
	if diff := cmp.Diff(want, s.all()); diff != "" || asked != 1 {
		t.Errorf("asked %d times, samples (-want +got):\n%s", asked, diff)
	}
}
