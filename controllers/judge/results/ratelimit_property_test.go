package results_test

import (
	"fmt"
	"math/rand"
	"slices"
	"testing"
	"testing/quick"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// The audit is checked against simulated limiters. The simulation knows what the
// audit does not: when each request was decided and how full the bucket was.

// unit is how finely the simulated bucket counts: 10^15 to the token, so that a
// rate of r millionths of a token per second fills r units per nanosecond.
const unit int64 = 1_000_000_000_000_000

// limiterSimulation is a random limiter with its clients, clocks and network.
type limiterSimulation struct {
	rng        *rand.Rand
	capacity   int64 // tokens
	refill     int64 // millionths of a token per second, as promised
	actual     int64 // the same by the limiter's own clock, which drifts
	clockError time.Duration
	silence    time.Duration
	level      int64 // units in the bucket
	at         time.Duration
	// faults is the share, of 100, of decisions that are made the wrong way.
	faults int
	// wrongGrants and wrongDenials are the truth that the audit must not exceed.
	wrongGrants, wrongDenials int64
}

func newLimiterSimulation(seed int64, faults int) *limiterSimulation {
	rng := rand.New(rand.NewSource(seed))
	w := &limiterSimulation{
		rng:        rng,
		capacity:   1 + rng.Int63n(60),
		refill:     1 + rng.Int63n(100_000_000),
		clockError: time.Duration(rng.Int63n(int64(20 * ms))),
		silence:    time.Duration(rng.Int63n(int64(10 * time.Second))),
		faults:     faults,
	}
	w.actual = w.refill * (10_000 + rng.Int63n(19) - 9) / 10_000
	w.at = -w.clockError
	// The bucket was at worst empty when the silence began, and the last request
	// before it may have been sent a clock error later than the worker said.
	w.level = min(w.capacity*unit, w.actual*int64(max(0, w.silence-2*w.clockError)))
	w.level += rng.Int63n(w.capacity*unit - w.level + 1)
	return w
}

// decide is the token bucket itself.
func (w *limiterSimulation) decide(at time.Duration) (grant bool) {
	w.level = min(w.capacity*unit, w.level+w.actual*int64(at-w.at))
	w.at = at
	grant = w.level >= unit
	if w.rng.Intn(100) < w.faults {
		if grant {
			w.wrongDenials++
		} else {
			w.wrongGrants++
		}
		grant = !grant
	}
	if grant {
		w.level -= unit
	}
	return grant
}

// request is sent, decided and answered, in true time.
type request struct {
	sent, decided, received time.Duration
	worker                  int
	lost                    bool // the answer never came
}

// schedule is a random mix of bursts and single requests.
func (w *limiterSimulation) schedule(length time.Duration) []request {
	var list []request
	latency := time.Duration(1 + w.rng.Int63n(int64(200*ms)))
	for len(list) < 40+w.rng.Intn(200) {
		at := time.Duration(w.rng.Int63n(int64(length)))
		for range 1 + w.rng.Intn(1+w.rng.Intn(80)) {
			r := request{sent: at, worker: w.rng.Intn(4), lost: w.rng.Intn(50) == 0}
			r.decided = r.sent + time.Duration(w.rng.Int63n(int64(latency)))
			r.received = r.decided + time.Duration(w.rng.Int63n(int64(latency)))
			if r.lost { // it may be decided long after the client gave up
				r.decided += time.Duration(w.rng.Int63n(int64(2 * time.Second)))
			}
			list = append(list, r)
			at += time.Duration(w.rng.Int63n(int64(3 * ms)))
		}
	}
	slices.SortStableFunc(list, func(a, b request) int { return int(a.decided - b.decided) })
	return list
}

// run has the limiter decide a schedule, and records it as the workers would,
// each with a clock of its own.
func (w *limiterSimulation) run(length time.Duration) *measure.Measurement {
	clocks := make([]time.Duration, 4)
	for i := range clocks {
		clocks[i] = time.Duration(w.rng.Int63n(int64(2*w.clockError)+1)) - w.clockError
	}
	step := measure.NewMeasurement(1)
	step.ClockError = w.clockError
	ledger := &measure.Ledger{}
	for _, r := range w.schedule(length) {
		outcome := measure.RateLimited
		if w.decide(r.decided) {
			outcome = measure.Success
		}
		if r.lost {
			outcome = measure.Timeout
		}
		sent, received := r.sent+clocks[r.worker], r.received+clocks[r.worker]
		slice := int(max(sent, 0) / measure.SliceWidth(length))
		ledger.Record(slice, sent, received, outcome)
		step.Requests[0].Outcomes[outcome]++
	}
	step.Clients = measure.NewClients(measure.MaxLedgerBytes)
	step.Clients.Add("a", ledger)
	return step
}

func (w *limiterSimulation) spec() *v1beta1.LoadTestSpec {
	refill := v1beta1.NewDecimal(fmt.Sprintf("%d.%06d", w.refill/1_000_000, w.refill%1_000_000))
	return contractSpec(w.capacity, refill)
}

func check(t *testing.T, property func(seed int64) bool) {
	t.Helper()
	if err := quick.Check(property, &quick.Config{MaxCount: 500}); err != nil {
		t.Error(err)
	}
}

func TestCorrectLimiterHasNoViolations(t *testing.T) {
	check(t, func(seed int64) bool {
		w := newLimiterSimulation(seed, 0)
		merged := w.run(time.Duration(1+w.rng.Int63n(20)) * time.Second)
		got := audit(t, w.spec(), merged, w.silence)
		return got.OverLimitGrants == 0 && got.FalseDenials == 0
	})
}

// A limiter that decides wrongly at times is never accused of more than it did.
func TestAFaultyLimiterIsNotAccusedOfMoreThanItsFaults(t *testing.T) {
	var over, falsely, wrongGrants, wrongDenials int64
	check(t, func(seed int64) bool {
		w := newLimiterSimulation(seed, 1+int(uint64(seed)%30))
		merged := w.run(time.Duration(1+w.rng.Int63n(20)) * time.Second)
		got := audit(t, w.spec(), merged, w.silence)
		over += got.OverLimitGrants
		falsely += got.FalseDenials
		wrongGrants += w.wrongGrants
		wrongDenials += w.wrongDenials
		return got.OverLimitGrants <= w.wrongGrants && got.FalseDenials <= w.wrongDenials
	})
	// An audit that always says 0 would pass the property; this one finds a good
	// part even of faults that are hidden among right decisions.
	t.Logf("found %d of %d wrong grants and %d of %d wrong denials", over, wrongGrants, falsely, wrongDenials)
	if over*20 < wrongGrants || falsely*20 < wrongDenials {
		t.Errorf("found only %d of %d wrong grants and %d of %d wrong denials", over, wrongGrants, falsely, wrongDenials)
	}
}

// Extra grants in a burst so tight that nothing refills are found to the last.
func TestALeakInATightBurstIsCaught(t *testing.T) {
	check(t, func(seed int64) bool {
		rng := rand.New(rand.NewSource(seed))
		capacity, leak := 1+rng.Int63n(1000), 1+rng.Int63n(1000)
		span := time.Duration(1 + rng.Int63n(int64(40*ms)))
		merged := measured(map[string]told{"a": {both(capacity+leak, rng.Int63n(100), 0, span)}})
		merged.ClockError = time.Duration(rng.Int63n(int64(ms)))
		got := audit(t, contractSpec(capacity, v1beta1.NewDecimal("10")), merged, time.Hour)
		return got.OverLimitGrants == leak
	})
}

// A limiter that loses one in so many requests although the bucket is full is
// caught with all of them, as long as tokens are left.
func TestDenialsOfAFullBucketAreCaught(t *testing.T) {
	check(t, func(seed int64) bool {
		rng := rand.New(rand.NewSource(seed))
		sent := 1 + rng.Int63n(49)
		wrong := rng.Int63n(sent + 1)
		// What is left of 50 tokens covers the denials.
		merged := measured(map[string]told{"a": {both(sent-wrong, wrong, 0, 90*ms)}})
		got := audit(t, contractSpec(50, v1beta1.NewDecimal("10")), merged, time.Minute)
		return got.FalseDenials == min(wrong, 50-(sent-wrong)) && got.OverLimitGrants == 0
	})
}
