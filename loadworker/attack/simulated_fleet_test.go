//go:build !race

package attack

import (
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/pace"
)

// simulatedFleet is a step of several workers in virtual time. Each is simulated as a worker
// runs it; they have one target, and may each have a fault of its own.
type simulatedFleet struct {
	load    Load
	total   int64 // users, or hits; 0: Poisson arrivals
	timeout time.Duration
	times   []time.Duration
	target  func() *simulatedTarget // a new one for each run
	faults  []*simulatedFault       // of each worker; nil: it has none
}

// run runs the step, and returns what all workers measured.
func (f simulatedFleet) run(t *testing.T) *measure.Measurement {
	t.Helper()
	merged := measure.NewMeasurement(1)
	synctest.Test(t, func(t *testing.T) {
		target, start := f.target(), time.Now()
		var group sync.WaitGroup
		all := make([]*Execution, len(f.faults))
		for w, fault := range f.faults {
			s := f.worker(w, fault, target)
			x := s.execution(t, w, start)
			sched := x.schedulers(1)[0]
			sched.driver, all[w] = &simulatedDriver{sched: sched, simulated: s}, x
			group.Go(func() { x.execute(func() { x.run([]*scheduler{sched}) }) })
		}
		group.Wait()
		for w, x := range all {
			m := snapshot(t, x)
			m.Health = f.faults[w].health(m.Window)
			if err := merged.Merge(m); err != nil {
				t.Error(err)
			}
		}
	})
	return merged
}

// worker is one of the workers. Each acts at instants of its own: which of two requests comes
// first does not depend on the order in which goroutines run.
func (f simulatedFleet) worker(w int, fault *simulatedFault, target *simulatedTarget) *simulated {
	s := &simulated{step: StepShare{Share: pace.Share{First: int64(w), Stride: int64(len(f.faults))}, Load: f.load}, timeout: f.timeout, times: f.times}
	if f.total > 0 {
		s.step.Share, s.step.Total = s.step.Share.Of(f.total), f.total
	}
	s.serve = func(user int, h *hit) (time.Duration, int) { return target.serve(w, user, h) }
	late := fault.lateness()
	s.runs = func(t time.Duration) time.Duration { return late(t) + time.Duration(1+w) }
	s.stood = fault.stood
	return s
}

// simulatedTarget is a target that answers each request in a time of its own, by servers that
// its requests wait for, if it has any.
type simulatedTarget struct {
	seed    uint64
	service func(*rand.Rand) time.Duration
	errors  float64 // the share of the requests that fail
	// slow are times in which it takes longer by a factor, or answers nothing at all and
	// everything afterwards.
	slow []slowTime

	mu      sync.Mutex
	servers []time.Duration // when each is free
}

type slowTime struct {
	from, until time.Duration
	factor      float64 // 0: it stands still
}

func (g *simulatedTarget) serve(worker, user int, h *hit) (took time.Duration, status int) {
	random := rand.New(rand.NewPCG(g.seed<<8|uint64(worker), uint64(user)<<32|uint64(h.number)))
	took, status = max(50*time.Microsecond, g.service(random)), 200
	if random.Float64() < g.errors {
		status = 500
	}
	begins := h.sent
	for _, s := range g.slow {
		switch {
		case h.sent < s.from || h.sent >= s.until:
		case s.factor > 0:
			took = time.Duration(float64(took) * s.factor)
		default:
			begins = s.until
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.servers) > 0 {
		first := 0
		for i, free := range g.servers {
			if free < g.servers[first] {
				first = i
			}
		}
		begins = max(begins, g.servers[first])
		g.servers[first] = begins + took
	}
	return begins + took - h.sent, status
}

// simulatedFault is what is wrong with a worker, from an instant until another.
type simulatedFault struct {
	// stops are when it does not run at all; they do not overlap.
	stops []slowTime
	// from until is when the others hold.
	from, until time.Duration
	// ran is for how much of each period of 100 ms it runs, until it is throttled; 0: it is
	// not.
	ran time.Duration
	// late is by how much later it does what it has to do; nil: at once.
	late func(*rand.Rand) time.Duration
	seed uint64
}

const throttlePeriod = 100 * time.Millisecond

// lateness is when the worker runs that has something to do at an instant.
func (f *simulatedFault) lateness() func(time.Duration) time.Duration {
	if f == nil {
		return func(t time.Duration) time.Duration { return t }
	}
	random := rand.New(rand.NewPCG(f.seed, 77))
	return func(t time.Duration) time.Duration {
		if t >= f.from && t < f.until {
			if f.late != nil {
				t += f.late(random)
			}
			if begun := t / throttlePeriod * throttlePeriod; f.ran > 0 && t >= begun+f.ran {
				t = begun + throttlePeriod
			}
		}
		for _, s := range f.stops {
			if t >= s.from && t < s.until {
				t = s.until
			}
		}
		return t
	}
}

// unnoticed is how much of a stop a worker does not notice, leastReported the shortest stop that
// it reports, and leastNoticed the shortest that may excuse a request.
const unnoticed, leastReported, leastNoticed = 20 * time.Millisecond, 120 * time.Millisecond, 50 * time.Millisecond

// stood is for how long the worker knows to have stood still until an instant.
func (f *simulatedFault) stood(t time.Duration) (sum time.Duration) {
	if f == nil {
		return 0
	}
	for _, s := range f.stops {
		if s.until <= t && s.until-s.from >= leastNoticed {
			sum += s.until - s.from
		}
	}
	if pause := throttlePeriod - f.ran; f.ran > 0 && pause >= leastNoticed && t > f.from {
		sum += pause * ((min(t, f.until) - f.from) / throttlePeriod)
	}
	return sum
}

// stopped is for how long the worker reports to have stood still.
func (f *simulatedFault) stopped() (sum time.Duration) {
	for _, s := range f.stops {
		if s.until-s.from >= leastReported {
			sum += s.until - s.from - unnoticed
		}
	}
	return sum
}

// health is what the worker reports of itself.
func (f *simulatedFault) health(window time.Duration) (h measure.Health) {
	if f == nil {
		return h
	}
	h.Stalled = f.stopped()
	h.StalledMax = h.Stalled
	if f.ran > 0 {
		h.CPUThrottled = within(f.from, f.until, window) * (throttlePeriod - f.ran) / throttlePeriod
		h.CPUThrottledMax = h.CPUThrottled
	}
	return h
}
