package lifecycle_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/verdict"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/queue"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// began is a whole second, so that golden texts are easy to read.
var began = time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)

// simulation is a cluster in which nothing but one run happens. Time jumps from one
// event to the next; after each, the run is decided until nothing changes.
type simulation struct {
	t      *testing.T
	lt     *v1alpha1.LoadTest
	policy policy.Rules
	now    time.Time
	job    lifecycle.JobState
	// port is what is known of the named port of the target's Service.
	port    int32
	noPort  string
	workers []*worker
	pending []happening
	order   int
	shuffle *rand.Rand
	story   strings.Builder
	// latency and lateness are those of every simulated request.
	latency, lateness time.Duration
	// users is with how many users at most responses take no longer than that; 0: any.
	users int32
	// inFlight is how many requests of each worker have no outcome yet whenever it
	// reports before the end of a step.
	inFlight int64
	// excess is how many requests beyond its share each worker says were due.
	excess int64
	// throttled is for how long each worker was held back in a step.
	throttled time.Duration
	events    []lifecycle.Event
	deleted   bool
	target    storage
	// since and from are the coordinator's: when it was first directed, and the first
	// step that was not begun by then.
	since time.Time
	from  int32
	// targets is how many targets the workers have, and slower by how much longer the
	// control takes.
	targets int32
	slower  time.Duration
	// seconds are those of the decision before.
	seconds verdict.Seconds
	// place is where the run stands in the queue; nil: there is none.
	place *queue.Place
	// wrote is called with the LoadTest after each status that is written. It may be nil.
	wrote func(*v1alpha1.LoadTest)
	// sum is what was added up of the workers' measurements.
	added []*measure.Measurement
	sum   *measure.Measurement
}

// happening is something that is due at an instant.
type happening struct {
	at    time.Time
	order int
	what  func()
}

// worker is a simulated worker.
type worker struct {
	exchange.Worker
	// hindered keeps the pod waiting for this reason.
	hindered [2]string
	// refused keeps the pod from being created, which is known once it has been
	// missing for a while.
	refused bool
	// stuck keeps the pod waiting for no reason that its status says.
	stuck bool
	// refuses has the worker connect and say that it is not ready.
	refuses [2]string
	// lingers has the worker live on when its Job is deleted, until its successor's
	// pod is there.
	lingers bool
	// busy has the worker connect without being ready.
	busy bool
	// diesIn ends the pod so long after a step has begun; 0: never.
	diesIn  time.Duration
	step    int32
	started time.Time
	round   int32 // in which it reads the numbers of audits
	counted int64 // of its step, that the target has stored
	stopped bool  // in its step: it sends no more of it
	latest  *measure.Measurement
	until   time.Time
}

func newSimulation(t *testing.T, spec v1alpha1.LoadTestSpec) *simulation {
	t.Helper()
	lt := &v1alpha1.LoadTest{Spec: spec}
	lt.Name, lt.Namespace, lt.UID, lt.Generation = "story", "default", "uid-1", 1
	w := &simulation{t: t, lt: lt, now: began, latency: 20 * time.Millisecond}
	planned, refusal := plan.New(lt, policy.Rules{})
	if refusal != nil {
		t.Fatal(refusal)
	}
	for range planned.Workers {
		w.workers = append(w.workers, &worker{step: -1})
	}
	return w
}

func (w *simulation) in(d time.Duration, what func()) {
	w.order++
	order := w.order
	if w.shuffle != nil {
		order = w.shuffle.Int()
	}
	w.pending = append(w.pending, happening{at: w.now.Add(d), order: order, what: what})
}

// run advances the simulation until nothing is left to happen.
func (w *simulation) run() {
	const bound = 10_000
	for range bound {
		wake := w.settle()
		if w.deleted {
			return
		}
		slices.SortStableFunc(w.pending, func(a, b happening) int {
			return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.order, b.order))
		})
		switch {
		case len(w.pending) > 0 && (wake.IsZero() || !w.pending[0].at.After(wake)):
			next := w.pending[0]
			w.pending = w.pending[1:]
			w.now = later(w.now, next.at)
			next.what()
		case !wake.IsZero():
			w.now = wake
		default:
			return
		}
	}
	w.t.Fatalf("the run does not come to an end; its story so far:\n%s", w.story.String())
}

// settle decides and applies until nothing changes, and returns when to wake.
func (w *simulation) settle() time.Time {
	const bound = 20
	for range bound {
		before := w.lt.Status.DeepCopy()
		d, err := lifecycle.DecideUnwritten(w.lt.DeepCopy(), w.policy, w.observe(), w.now)
		if err != nil {
			w.t.Fatal(err)
		}
		w.seconds = d.Seconds
		w.apply(d)
		if d.Delete {
			w.deleted = true
			w.tell("the LoadTest is deleted")
			return time.Time{}
		}
		w.write(d)
		if equality.Semantic.DeepEqual(*before, w.lt.Status) {
			if d.RequeueAfter == 0 {
				return time.Time{}
			}
			return w.now.Add(d.RequeueAfter)
		}
		w.check(before)
	}
	w.t.Fatalf("the status never comes to rest; the story so far:\n%s", w.story.String())
	return time.Time{}
}

// write stores the status as the API server does: what JSON does not carry,
// such as parts of a second, is lost.
func (w *simulation) write(d lifecycle.Decision) {
	raw, err := json.Marshal(d.Status)
	if err != nil {
		w.t.Fatal(err)
	}
	before := w.lt.Status
	w.lt.Status = v1alpha1.LoadTestStatus{}
	if err := json.Unmarshal(raw, &w.lt.Status); err != nil {
		w.t.Fatal(err)
	}
	w.tellChange(before, w.lt.Status)
	if w.wrote != nil {
		w.wrote(w.lt)
	}
	for _, e := range d.Events {
		w.events = append(w.events, e)
		kind := "Normal"
		if e.Warning {
			kind = "Warning"
		}
		w.tell("event %s %s: %s", kind, e.Reason, e.Message)
	}
}

func (w *simulation) observe() lifecycle.Observed {
	seen := lifecycle.Observed{Job: w.job, Seconds: w.seconds, Since: w.since, From: w.from, TargetPort: w.port, TargetProblem: w.noPort, Place: w.place}
	desired := int(w.lt.Status.Workers.Desired)
	var report exchange.Report
	var steps []*measure.Measurement
	for _, x := range w.workers[:min(desired, len(w.workers))] {
		seen.Workers = append(seen.Workers, x.Worker)
		if x.latest == nil {
			continue
		}
		if len(steps) == 0 {
			report.Step = x.step
		}
		steps = append(steps, x.latest)
		report.MeanWindow += x.latest.Window
		if report.Reporting == 0 || x.latest.Window < report.ShortestWindow {
			report.ShortestWindow = x.latest.Window
		}
		report.Reporting++
		report.Until = later(report.Until, x.until)
	}
	if len(steps) > 0 {
		report.Merged = w.merge(steps)
		report.MeanWindow /= time.Duration(len(steps))
		seen.Step = &report
	}
	return seen
}

// merge adds up what workers measured, unless it did so for the pass before: most
// passes see nothing new of it, and it is what a story takes longest for.
func (w *simulation) merge(steps []*measure.Measurement) *measure.Measurement {
	if slices.Equal(steps, w.added) {
		return w.sum
	}
	w.added, w.sum = steps, measure.NewMeasurement(len(w.lt.Spec.Requests))
	for i, step := range steps {
		if err := w.sum.Merge(step); err != nil {
			w.t.Fatalf("report %d: %v", i, err)
		}
	}
	return w.sum
}

func (w *simulation) apply(d lifecycle.Decision) {
	switch d.Job {
	case lifecycle.JobCreate:
		if w.job != lifecycle.JobAbsent {
			w.t.Errorf("a Job is created while one is there (%d)", w.job)
		}
		w.tell("the Job is created")
		w.job = lifecycle.JobPresent
		for i := range w.workers {
			w.boot(i)
		}
	case lifecycle.JobDelete:
		w.tell("the Job is deleted")
		w.job = lifecycle.JobAbsent
		for i, x := range w.workers {
			if x.Pod = exchange.PodAbsent; x.lingers {
				continue
			}
			w.workers[i] = &worker{step: -1, hindered: x.hindered, refuses: x.refuses, diesIn: x.diesIn}
		}
	case lifecycle.JobKeep:
	}
	if w.since.IsZero() && w.lt.Status.StartTime != nil {
		w.since, w.from = w.now, max(d.Directive.Acknowledged, d.Directive.ActiveStep()+1)
	}
	for i, x := range w.workers {
		w.directWorker(i, x, d.Directive)
	}
}

// boot brings a worker's pod up: scheduled at once, running in 1 s, ready in 2.
func (w *simulation) boot(i int) {
	x := w.workers[i]
	if x.lingers && x.Connected { // as the pod of its session is not this one
		x = &worker{step: -1}
		w.workers[i] = x
	}
	if x.refused {
		w.in(lifecycle.PodsExpected, func() {
			if x.refused {
				x.PodReason, x.PodMessage = v1alpha1.ReasonCreateRefused, "the pod cannot be created: exceeded quota: tests, requested: pods=1, used: pods=2, limited: pods=2"
			}
		})
		return
	}
	x.Pod = exchange.PodWaiting
	x.PodReason, x.PodMessage = x.hindered[0], x.hindered[1]
	if x.PodReason != "" || x.stuck {
		return
	}
	alive := func() bool { return w.workers[i] == x && x.Pod != exchange.PodEnded }
	w.in(time.Second, func() {
		if alive() {
			x.Pod = exchange.PodRunning
		}
	})
	w.in(2*time.Second, func() {
		if !alive() {
			return
		}
		x.Connected, x.LastSeen = true, w.now
		x.Ready = x.refuses[0] == "" && !x.busy
		x.Reason, x.Message = x.refuses[0], x.refuses[1]
		x.Answers, x.Targets = int32(len(w.lt.Spec.Preflight)+len(plan.ControlPreflight(&w.lt.Spec))), w.targets
	})
}

func (w *simulation) directWorker(i int, x *worker, d exchange.Directive) {
	if x.latest != nil && x.step < d.Acknowledged {
		x.latest, x.Final, x.Cut, x.Reported, x.Due, x.Sent = nil, false, false, false, 0, 0
	}
	if !x.Connected {
		return
	}
	if round := d.AuditRound(int32(i)); round != x.round {
		w.readNumbers(i, x, round)
	}
	if s := d.Start; s != nil && x.step < s.Step {
		x.step, x.started, x.counted, x.stopped = s.Step, s.At, 0, false
		w.measure(i, x, s.At.Sub(w.now))
	}
	if d.Stop && x.step >= 0 && x.latest != nil && !x.Final {
		x.Final, x.stopped = true, true
	}
	if d.Finish && x.Pod == exchange.PodRunning {
		w.in(time.Second, func() { w.end(x, "Completed, exit code 0") })
	}
}

func (w *simulation) end(x *worker, message string) {
	x.Pod, x.PodReason, x.PodMessage = exchange.PodEnded, v1alpha1.ReasonWorkerLost, message
	x.Connected = false
	if !slices.ContainsFunc(w.workers, func(o *worker) bool { return o.Pod != exchange.PodEnded }) && w.job == lifecycle.JobPresent {
		w.job = lifecycle.JobFinished
	}
}

func (w *simulation) tell(format string, args ...any) {
	fmt.Fprintf(&w.story, "%8.3fs  %s\n", w.now.Sub(began).Seconds(), fmt.Sprintf(format, args...))
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
