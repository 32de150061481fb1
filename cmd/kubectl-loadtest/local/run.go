package local

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/utils/clock"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/results"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/verdict"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/baseline"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/measure/archive"
)

// Config is what a run on this machine needs beside its LoadTest.
type Config struct {
	// Files are the ConfigMaps and Secrets that the LoadTest may name.
	Files *Objects
	// Services are those to whose addresses targets were directed.
	Services Services
	// Command starts a worker: a program that calls Worker.
	Command []string
	// Show is called with the LoadTest again and again, at least each refresh.
	Show func(*v1beta1.LoadTest)
	// ShowLoad is called with the LoadTest of a load when it has changed, by a goroutine of its own.
	// Optional.
	ShowLoad func(*v1beta1.LoadTest)
	// Say is called with what workers said last, if the run could not be carried out.
	Say func(string)
	// Keep is called with the results of a step beyond its summary, when it ends; of loads, with the
	// steps of all, one after another. Optional.
	Keep func(*archive.Step)
	// Results is where each request is written to, as a result of vegeta; nil: nowhere.
	Results *Results
	// Baseline stands for the LoadTest of spec.baseline, by whatever name; nil: it does not exist.
	Baseline *v1beta1.LoadTest
	// Terminate asks for the end of the run, as spec.terminate does.
	Terminate <-chan struct{}

	// parent is what a load reads of the LoadTest that has it; nil: the LoadTest is no load.
	parent func(*v1beta1.LoadTest) *lifecycle.Parent
}

const (
	// refresh is the interval of Show.
	refresh = 250 * time.Millisecond
	// partingTime is how long workers of a run that is over may take to end.
	partingTime = 5 * time.Second
)

// Run carries a LoadTest, which has been admitted and whose target is no Service, to its
// end, and returns it. When ctx ends, it gives up at once.
func Run(ctx context.Context, lt *v1beta1.LoadTest, c Config) (*v1beta1.LoadTest, error) {
	if err := errors.Join(Check(lt, c.Files), checkBaseline(lt, c.Baseline)); err != nil {
		return nil, err
	}
	e, err := newEnvironment(ctx, lt, c)
	if err != nil {
		return nil, err
	}
	r := &run{Config: c, test: lt.DeepCopy(), clock: clock.RealClock{}, environment: e}
	err = r.untilFinished(ctx)
	if r.test.Status.Verdict == v1beta1.VerdictError {
		e.processes.quote(c.Say)
	}
	return r.test, errors.Join(err, e.close(err == nil, func() error { return r.writeResults() }))
}

// run is a LoadTest that runs. Only the goroutine of Run touches it.
type run struct {
	Config
	*environment
	test  *v1beta1.LoadTest
	clock clock.PassiveClock
	// assignments are made from the plan in status, and anew when a search has appended
	// steps to it; planned is how many it had.
	assignments []*workerv1.Assignment
	planned     int
	written     lifecycle.Written
	// seconds is what the latest decision remembers of the step that runs.
	seconds verdict.Seconds
}

// untilFinished is the loop of observe, decide, apply and report. A status that has
// changed is decided on at once, as the API server would send it back.
func (r *run) untilFinished(ctx context.Context) error {
	ticker := time.NewTicker(refresh)
	defer ticker.Stop()
	for {
		if isTakenUp(r.test) {
			r.Show(r.test)
		}
		finished := meta.IsStatusConditionTrue(r.test.Status.Conditions, v1beta1.ConditionFinished)
		changed, wake, err := r.pass()
		if err != nil || finished {
			return err
		}
		if !changed {
			err = r.await(ctx, wake, ticker.C)
		}
		if err := errors.Join(err, ctx.Err()); err != nil {
			return err
		}
	}
}

// pass decides once. wake is the time to the next known instant; 0: there is none.
func (r *run) pass() (changed bool, wake time.Duration, err error) {
	now := r.clock.Now()
	decision := lifecycle.Decide(r.test, everything, r.observe(), now)
	r.seconds = decision.Seconds
	decision.Status.ResultRefs = nil // there is no cluster to store them in
	if err := r.keep(decision.Store); err != nil {
		return false, 0, err
	}
	if err := r.apply(decision); err != nil {
		return false, 0, err
	}
	if equality.Semantic.DeepEqual(r.test.Status, decision.Status) {
		return false, decision.RequeueAfter, nil
	}
	stored, err := stored(decision.Status)
	if err != nil {
		return false, 0, fmt.Errorf("store status: %w", err)
	}
	r.test.Status, r.written = stored, lifecycle.Written{At: now} // its size costs no store anything
	return true, 0, nil
}

// keep hands over the results of a step that ends.
func (r *run) keep(s *lifecycle.Store) error {
	if s == nil || r.Keep == nil {
		return nil
	}
	packed, err := results.Archive(r.test, s.Step, s.Report, s.Usage)
	if err != nil {
		return err
	}
	step, err := archive.Decode(packed)
	if err == nil {
		r.Keep(step)
	}
	return err
}

// everything is allowed: the machine is the user's own.
var everything = policy.Everything()

// observe is all that is known of the run beside the LoadTest.
func (r *run) observe() lifecycle.Observed {
	// Processes come before sessions: all that one has said which has ended is then known.
	workers := make([]exchange.Worker, r.test.Status.Workers.Desired)
	job := r.processes.observe(workers)
	o := r.coordinator.Observe(r.id())
	for i, w := range o.Workers[:min(len(o.Workers), len(workers))] {
		w.Pod, w.PodReason, w.PodMessage = workers[i].Pod, workers[i].PodReason, workers[i].PodMessage
		w.Message = named(w.Message, r.folder)
		workers[i] = w
	}
	seen := lifecycle.Observed{
		Since: o.Since, From: o.From, Step: o.Step, Written: r.written, Seconds: r.seconds,
		Undirected: o.Started != r.test.Status.CurrentStep,
		Workers:    workers, Job: job,
	}
	seen.Baseline, seen.BaselineAbsent = r.Baseline, r.Baseline == nil
	if b := r.test.Spec.Baseline; b != nil && b.Schedule != "" {
		seen.Level = &baseline.Level{Schedule: b.Schedule} // there are no LoadTests of a schedule here
	}
	if r.parent != nil {
		seen.Parent = r.parent(r.test)
	}
	return seen
}

// apply starts and ends workers, and directs them. Nothing is wanted of them before the
// run has been accepted.
func (r *run) apply(d lifecycle.Decision) error {
	switch d.Job {
	case lifecycle.JobCreate:
		if err := r.start(r.test.Status.Workers.Desired); err != nil {
			return err
		}
	case lifecycle.JobDelete:
		r.processes.end()
	case lifecycle.JobKeep:
	}
	if r.test.Status.StartTime == nil || d.Forget {
		return nil
	}
	if steps := len(r.test.Status.Steps); steps != r.planned {
		r.assignments, r.planned = plan.Assignments(r.test), steps
		r.adapt(r.assignments)
	}
	d.Directive.Assignments = r.assignments
	r.coordinator.Direct(r.id(), d.Directive)
	return nil
}

func (r *run) id() coordinator.RunID { return coordinator.RunID(r.test.UID) }

// await waits for a reason to decide again.
func (r *run) await(ctx context.Context, wake time.Duration, refresh <-chan time.Time) error {
	if r.parent != nil && (wake <= 0 || wake > parentPoll) {
		wake = parentPoll
	}
	var due <-chan time.Time
	if wake > 0 {
		timer := time.NewTimer(wake)
		defer timer.Stop()
		due = timer.C
	}
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-due:
			return nil
		case <-r.changed:
			return nil
		case <-r.Terminate:
			r.Terminate = nil // a channel that is closed is ready for ever
			r.test.Spec.Terminate = true
			r.test.Generation++
			return nil
		case <-refresh:
			r.Show(r.test)
		}
	}
}

// isTakenUp says whether a run begins: before, it would seem to wait for an operator.
func isTakenUp(lt *v1beta1.LoadTest) bool {
	return lt.Status.Phase != "" && lt.Status.Phase != v1beta1.PhasePending
}
