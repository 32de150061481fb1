package verdict_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/verdict"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// simulated is a step of which the life of each request is known beforehand.
type simulated struct {
	rng       *rand.Rand
	load      v1beta1.StepLoad
	length    time.Duration
	requests  []simulatedRequest // by when they end
	threshold v1beta1.Threshold
	// broken is from when on the target is; never by default.
	broken time.Duration
}

type simulatedRequest struct {
	due, took time.Duration
	failed    bool
	worker    int
}

const simulatedWorkers = 3

// newSimulated draws a step: at an even rate, with Poisson arrivals, or with users that
// wait for their replies. The target has up to three bad seconds, of which each is slow
// or fails, and may be broken from an instant on.
func newSimulated(seed uint64, breaks bool) *simulated {
	rng := rand.New(rand.NewPCG(seed, 10))
	s := &simulated{rng: rng, length: time.Duration(30+rng.IntN(60)) * time.Second, broken: math.MaxInt64}
	if breaks {
		s.broken = time.Duration(0.2 * rng.Float64() * float64(s.length))
	}
	bad := map[int]bool{}
	for first, n := rng.IntN(int(s.length.Seconds())), rng.IntN(4); n > 0; n-- {
		bad[first+n] = true
	}
	slow, median := rng.IntN(2) == 0, time.Duration(10+rng.IntN(90))*time.Millisecond
	send := func(due time.Duration) simulatedRequest {
		r := simulatedRequest{due: due, took: time.Duration(float64(median) * math.Exp(0.5*rng.NormFloat64())), worker: rng.IntN(simulatedWorkers)}
		switch isBad := bad[int(due.Seconds())]; {
		case due >= s.broken && slow, isBad && slow:
			r.took *= 20
		case due >= s.broken:
			r.failed = rng.IntN(2) == 0
		case isBad:
			r.failed = true
		default:
			r.failed = rng.IntN(300) == 0
		}
		return r
	}
	s.load.Duration = &metav1.Duration{Duration: s.length}
	perSecond := 20 + rng.IntN(100)
	switch rng.IntN(3) {
	case 0:
		s.load.Rate, s.load.Requests = ptr(v1beta1.NewDecimal(strconv.Itoa(perSecond))), int64(perSecond)*int64(s.length/time.Second)
		for i := range s.load.Requests {
			s.requests = append(s.requests, send(time.Duration(i)*time.Second/time.Duration(perSecond)))
		}
	case 1:
		s.load.Rate, s.load.Arrivals = ptr(v1beta1.NewDecimal(strconv.Itoa(perSecond))), v1beta1.ArrivalsPoisson
		for due := time.Duration(0); due < s.length; due += time.Duration(rng.ExpFloat64() * float64(time.Second) / float64(perSecond)) {
			s.requests = append(s.requests, send(due))
		}
	default:
		s.load.Users = int32(2 + rng.IntN(8))
		for range s.load.Users {
			for due := time.Duration(0); due < s.length; {
				r := send(due)
				s.requests = append(s.requests, r)
				due += r.took
			}
		}
	}
	slices.SortFunc(s.requests, func(a, b simulatedRequest) int { return cmp.Compare(a.due+a.took, b.due+b.took) })
	return s
}

// isClosed says whether users wait for their replies.
func (s *simulated) isClosed() bool { return s.load.Users > 0 }

// bound chooses a threshold that the step keeps, by little, or breaches.
func (s *simulated) bound(keeps bool) {
	slack := 1 + 0.02 + 0.3*s.rng.Float64()
	if !keeps {
		slack = 0.7
	}
	took := make([]time.Duration, len(s.requests))
	failed := 0
	for i, r := range s.requests {
		if took[i] = r.took; r.failed {
			failed++
		}
	}
	slices.Sort(took)
	quantile := func(q float64) time.Duration { return took[int(math.Ceil(q*float64(len(took))))-1] }
	within := quantile(0.9)
	onTime := 0
	for _, r := range s.requests {
		if !r.failed && r.took <= within {
			onTime++
		}
	}
	share := func(n int) float64 { return 100 * float64(n) / float64(len(s.requests)) }
	switch s.rng.IntN(4) {
	case 0:
		s.threshold = atMost("p95", fmt.Sprintf("%dus", int64(slack*float64(quantile(0.95)/time.Microsecond))))
	case 1:
		s.threshold = atMost("failureRate", fmt.Sprintf("%.4f%%", slack*share(failed)+0.0001))
	case 2:
		s.threshold = atLeast("onTimeRate", fmt.Sprintf("%.4f%%", min(99.9, share(onTime)*(2-slack))))
		if !keeps {
			s.threshold = atLeast("onTimeRate", fmt.Sprintf("%.4f%%", min(100, share(onTime)+5)))
		}
		s.threshold.Within = &metav1.Duration{Duration: within}
	case 3:
		s.threshold = atLeast("goodput", fmt.Sprintf("%.3f", float64(len(s.requests)-failed)/s.length.Seconds()/slack))
	}
	s.threshold.OnBreach = v1beta1.BreachAbort
}

// play looks at the step once a second, and says when it was aborted; 0: it was not.
// final is its result if it was not.
func (s *simulated) play(t *testing.T) (aborted time.Duration, final v1beta1.ThresholdState) {
	spec := spec(s.threshold)
	step := v1beta1.StepStatus{Name: "1", State: v1beta1.StepRunning, Load: s.load, Result: &v1beta1.StepResult{}}
	status := &v1beta1.LoadTestStatus{Requests: plan.RequestNames(spec), Steps: []v1beta1.StepStatus{step}, Thresholds: verdict.Thresholds(spec, nil, nil)}
	var workers, reported [simulatedWorkers]*measure.Measurement
	for w := range workers {
		workers[w], reported[w] = measure.NewMeasurement(2), measure.NewMeasurement(2)
		workers[w].Requests[0].OnTime = []int64{0}
	}
	merge := func(all [simulatedWorkers]*measure.Measurement) (m *measure.Measurement, shortest time.Duration) {
		m, shortest = measure.NewMeasurement(2), math.MaxInt64
		windows := time.Duration(0)
		for _, x := range all {
			must.Succeed(t, m.Merge(x))
			windows, shortest = windows+x.Window, min(shortest, x.Window)
		}
		m.Window = windows / simulatedWorkers
		return m, shortest
	}
	var seconds verdict.Seconds
	silent, until := s.rng.IntN(simulatedWorkers), s.rng.Float64()*s.length.Seconds()
	ended := 0
	for now := time.Second; now <= s.length; now += time.Second {
		for ; ended < len(s.requests) && s.requests[ended].due+s.requests[ended].took <= now; ended++ {
			s.count(&workers[s.requests[ended].worker].Requests[0], &s.requests[ended])
		}
		for w, x := range workers {
			s.countDue(x, w, now)
			if now.Seconds() > until && now.Seconds() < until+8 && w == silent {
				continue // it is not connected: what it sent last stands
			}
			reported[w] = clone(t, x)
		}
		m, shortest := merge(reported)
		_, breach, next := verdict.Abort(spec, status, verdict.Live{
			Step: &step, Merged: m, Shortest: shortest, All: !(now.Seconds() > until && now.Seconds() < until+8), Now: time.Unix(0, 0).Add(now),
		}, seconds)
		if seconds = next; breach != nil {
			return now, breach.State
		}
	}
	for ; ended < len(s.requests); ended++ {
		s.count(&workers[s.requests[ended].worker].Requests[0], &s.requests[ended])
	}
	m, _ := merge(workers)
	for i := range m.Requests {
		r := &m.Requests[i]
		r.Outcomes[measure.Unfinished] = 0
		copy(r.Overdue, []int64{r.Due})
	}
	m.Window = s.length
	return 0, verdict.Judge(spec, status, 0, m).Thresholds[0].State
}

// count counts a request that has ended.
func (s *simulated) count(r *measure.Request, x *simulatedRequest) {
	r.Response.Record(x.took)
	r.Service.Record(x.took)
	if x.failed {
		r.Outcomes[measure.ServerError]++
		r.Failed.Record(x.took, x.took, x.took)
	} else {
		r.Outcomes[measure.Success]++
		r.Expected++
		r.ExpectedInWindow++
		if s.threshold.Within != nil && x.took <= s.threshold.Within.Duration {
			r.OnTime[0]++
		}
	}
	r.CompletedInWindow++
}

// countDue counts what was due, and so sent, by now on a worker.
func (s *simulated) countDue(m *measure.Measurement, worker int, now time.Duration) {
	r := &m.Requests[0]
	r.Sent, r.Outcomes[measure.Unfinished] = 0, 0
	r.Overdue = []int64{0}
	for i := range s.requests {
		x := &s.requests[i]
		if x.worker != worker || x.due >= now {
			continue
		}
		r.Sent++
		if x.due+x.took > now {
			r.Outcomes[measure.Unfinished]++
		}
		if within := s.threshold.Within; within != nil && !s.isClosed() && x.due+within.Duration < now {
			r.Overdue[0]++
		}
	}
	r.Due, m.Due, m.Window = r.Sent, r.Sent, now
}

func clone(t *testing.T, m *measure.Measurement) *measure.Measurement {
	c := measure.NewMeasurement(len(m.Requests))
	must.Succeed(t, c.Merge(m))
	return c
}

// simulations is how many runs are simulated.
func simulations(t *testing.T, few int) int {
	text := os.Getenv("SIMULATIONS")
	if text == "" {
		return few
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("SIMULATIONS=%q is no number of runs", text)
	}
	return n
}

// Healthy runs, which keep a threshold by little, have bad seconds and a worker that is
// silent for a while, are not aborted. Runs that breach it are, and soon.
func TestSimulatedFalseAborts(t *testing.T) {
	n, healthy, falseAborts := simulations(t, 20), 0, 0
	for seed := range n {
		s := newSimulated(uint64(seed), false)
		s.bound(true)
		switch at, final := s.play(t); {
		case at > 0:
			healthy++
			falseAborts++
			t.Errorf("seed %d: %s %v is aborted after %v, of %v", seed, s.threshold.Metric, s.load, at, s.length)
		case final == passed:
			healthy++
		}
	}
	if healthy < n*9/10 {
		t.Errorf("%d of %d runs are healthy", healthy, n)
	}
	breached, aborted := 0, 0
	var after []time.Duration
	for seed := range max(1, n/5) {
		s := newSimulated(uint64(seed), true)
		s.bound(false)
		at, final := s.play(t)
		if final == broken {
			breached++
		}
		if at > 0 {
			aborted++
			after = append(after, at-s.broken)
		}
	}
	if aborted*10 < breached*8 {
		t.Errorf("%d of %d breaches are aborted", aborted, breached)
	}
	slices.Sort(after)
	t.Logf("%d of %d runs that breach were aborted, half of them within %v after the target broke", aborted, breached, after[len(after)/2].Round(100*time.Millisecond))
	fmt.Printf("bench-judgement: false-aborts=%.3f\n", float64(falseAborts)/float64(max(1, healthy)))
}
