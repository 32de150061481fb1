package session

import (
	"math/rand/v2"
	"testing"
	"time"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
)

func TestClockAssumesTheMiddleOfTheRoundTrip(t *testing.T) {
	base := time.Now()
	c := newClock(base)
	c.add(base, base.Add(10*time.Millisecond), 5000)
	if got := c.remote(base.Add(5 * time.Millisecond)).UnixNano(); got != 5000 {
		t.Errorf("in the middle the coordinator's clock shows %d, want 5000", got)
	}
	if got := c.local(5000+int64(time.Second), base); !got.Equal(base.Add(1005 * time.Millisecond)) {
		t.Errorf("a second later is %v after the probe, want 1.005s", got.Sub(base))
	}
	if got := c.bound(base.Add(5 * time.Millisecond)); got != 5*time.Millisecond {
		t.Errorf("error %v, want half the round trip", got)
	}
}

func TestClockPrefersTheShortestRoundTripUntilItIsOld(t *testing.T) {
	base := time.Now()
	c := newClock(base)
	c.add(base, base.Add(40*time.Millisecond), 0)
	c.add(base, base.Add(2*time.Millisecond), 1e9)
	c.add(base, base.Add(90*time.Millisecond), 2e9)
	if s, _ := c.best(base); s.remote != 1e9 {
		t.Errorf("used the sample %+v, want the one with 2 ms", s)
	}
	// 10 s later a sample may be a millisecond wrong by drift alone, so that one
	// of 3 ms that is fresh is better.
	later := base.Add(10 * time.Second)
	c.add(later, later.Add(3*time.Millisecond), 11e9)
	if s, bound := c.best(later); s.remote != 11e9 || bound < 1500*time.Microsecond || bound > 1501*time.Microsecond {
		t.Errorf("used the sample %+v with error %v, want the fresh one with 1.5 ms", s, bound)
	}
}

func TestClockErrorIsAnUpperBound(t *testing.T) {
	const offset = -7 * time.Hour
	r := rand.New(rand.NewPCG(1, 2))
	base := time.Now()
	for range 200 {
		c := newClock(base)
		for range firstProbes {
			sent := base.Add(time.Duration(r.Int64N(int64(time.Second))))
			there, back := time.Duration(r.Int64N(5e6)), time.Duration(r.Int64N(50e6))
			c.add(sent, sent.Add(there+back), sent.Add(there+offset).UnixNano())
		}
		at := base.Add(time.Second)
		wrong := c.remote(at).Sub(at.Add(offset)).Abs()
		if bound := c.bound(at); wrong > bound {
			t.Fatalf("wrong by %v, more than the error of %v", wrong, bound)
		}
	}
}

// When a stream begins, the worker sends a number of probes one after another. All
// answers are kept, except those of an earlier stream: it may have led to another
// coordinator.
func TestEachStreamProbesTheClockAnew(t *testing.T) {
	base := time.Now()
	w := &worker{clock: newClock(base), out: newOutbox()}
	reply := func() (probesAgain bool) {
		w.onClockReply(&workerv1.ClockReply{ProbeSentUnixNanos: w.clock.encode(base), NowUnixNanos: 1}, base.Add(time.Millisecond))
		return w.out.take().GetClockProbe() != nil
	}
	for i := range firstProbes + 3 {
		if got, want := reply(), i < firstProbes-1; got != want {
			t.Errorf("after %d answers it sends a probe at once: %t, want %t", i+1, got, want)
		}
	}
	if n := len(w.clock.samples); n != firstProbes+3 {
		t.Errorf("of %d answers it kept %d", firstProbes+3, n)
	}
	w.onConnected(newOutbox())
	if reply(); len(w.clock.samples) != 1 {
		t.Errorf("after the first answer on another stream it has %d samples, want 1", len(w.clock.samples))
	}
}

func TestClockDecodesWhatItEncoded(t *testing.T) {
	c := newClock(time.Now())
	at := time.Now().Add(123456789)
	if got := c.decode(c.encode(at)); !got.Equal(at) {
		t.Errorf("decode(encode(t)) is %v off", got.Sub(at))
	}
}

func TestClockIgnoresAnAnswerFromTheFuture(t *testing.T) {
	base := time.Now()
	c := newClock(base)
	c.add(base.Add(time.Hour), base, 1)
	if len(c.samples) > 0 {
		t.Error("it kept the answer to a probe that it cannot have sent")
	}
}

func TestClockKeepsALimitedNumberOfSamples(t *testing.T) {
	base := time.Now()
	c := newClock(base)
	for i := range int64(3 * maxSamples) {
		c.add(base, base.Add(time.Millisecond), i)
	}
	if len(c.samples) != maxSamples || c.samples[0].remote != 2*maxSamples {
		t.Errorf("%d samples from number %d, want the last %d", len(c.samples), c.samples[0].remote, maxSamples)
	}
	c.reset()
	if len(c.samples) > 0 {
		t.Error("samples are left after reset")
	}
}
