package defects_test

import (
	"os"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/results"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/verdict"
	"github.com/loadtest-dev/loadtest-operator/loadworker/assemble"
	"github.com/loadtest-dev/loadtest-operator/loadworker/attack"
	"github.com/loadtest-dev/loadtest-operator/loadworker/dial"
	"github.com/loadtest-dev/loadtest-operator/loadworker/health"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/measure/wire"
	"github.com/loadtest-dev/loadtest-operator/test/groundtruth"
	"github.com/loadtest-dev/loadtest-operator/test/harness"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/pressure"
)

const (
	ms = time.Millisecond
	// patience bounds a wait that should not take long; it is no assertion.
	patience = 2 * time.Minute
	// forever is longer than any test.
	forever = time.Hour
	// precision is that of a histogram: what it says is at most that much too
	// small.
	precision = 0.999
)

// experiment is a LoadTest of one step against a server.
type experiment struct {
	server groundtruth.Config
	// url replaces the server's.
	url     string
	timeout time.Duration
	spec    v1beta1.LoadTestSpec
	// connections bounds those of a worker; 0: as many as the system grants.
	connections int64
	// lookup replaces the system's resolver.
	lookup dial.Lookup
	// prepared is called when the workers are, before the step.
	prepared func(*groundtruth.Server)
	// drain deletes the pod of the first worker with grace once it has sent load.
	drain bool
	// uid is that of the LoadTest, from which the seed follows.
	uid string
	// busy keeps what the machine did to the workers in the measurement.
	busy bool
	// alter changes a worker's measurement, by its number: it adds a condition that a
	// test cannot cause.
	alter func(worker int, s *measure.Measurement)
}

// outcome is an experiment's.
type outcome struct {
	server    *groundtruth.Server
	workers   int
	start     int64 // of the step, on the kernel's clock
	merged    *measure.Measurement
	total     measure.Request
	result    *v1beta1.StepResult
	status    v1beta1.LoadTestStatus
	judgement verdict.Judgement
	// machine says how busy it was meanwhile.
	machine pressure.Reading
}

// excuses are the verdicts of this package's runs that were excused.
var excuses pressure.Excuses

func TestMain(m *testing.M) { os.Exit(excuses.Run(m.Run)) }

func ptr[T any](v T) *T { return &v }

func get(path string) v1beta1.Request {
	return v1beta1.Request{Name: path, HTTP: &v1beta1.HTTPRequest{Method: "GET", Path: path}}
}

// arrivals come at a rate, whether or not others were answered.
func arrivals(perSecond string, d time.Duration) []v1beta1.Step {
	return []v1beta1.Step{harness.Arrivals(perSecond, d)}
}

// paced users send so many requests a second each.
func paced(users int32, each string, d time.Duration) []v1beta1.Step {
	return []v1beta1.Step{harness.PacedUsers(users, each, d)}
}

// burst is so many requests of each user.
func burst(users, each int32) []v1beta1.Step {
	return []v1beta1.Step{harness.Burst(users, each)}
}

func atMost(metric v1beta1.Metric, limit string) v1beta1.Threshold {
	return v1beta1.Threshold{Metric: metric, Max: ptr(intstr.Parse(limit))}
}

func atLeast(metric v1beta1.Metric, limit string) v1beta1.Threshold {
	return v1beta1.Threshold{Metric: metric, Min: ptr(intstr.Parse(limit))}
}

// run carries the experiment out, as an operator and its workers would.
func (e experiment) run(t *testing.T) outcome {
	t.Helper()
	o, machine := outcome{}, pressure.Start()
	var err error
	o.server, err = groundtruth.Start(e.server)
	must.Succeed(t, err)
	t.Cleanup(o.server.Close)
	lt := e.loadTest(o.server.URL())
	workers := e.prepare(t, lt)
	o.workers = len(workers)
	if e.prepared != nil {
		e.prepared(o.server)
	}
	o.start, o.merged = e.runStep(t, workers, 0)
	o.machine = machine.Read()
	o.judge(t, lt)
	return o
}

func (e experiment) loadTest(url string) *v1beta1.LoadTest {
	lt := &v1beta1.LoadTest{Spec: e.spec}
	lt.UID = "defects"
	if e.uid != "" {
		lt.UID = types.UID(e.uid)
	}
	if lt.Spec.Target.URL = url; e.url != "" {
		lt.Spec.Target.URL = e.url
	}
	if lt.Spec.Parallelism == nil {
		lt.Spec.Parallelism = ptr[int32](1)
	}
	timeout := time.Minute
	if e.timeout > 0 {
		timeout = e.timeout
	}
	lt.Spec.Target.Timeout = harness.Lasting(timeout)
	if lt.Spec.Requests == nil {
		lt.Spec.Requests = []v1beta1.Request{get("/${seq}")}
	}
	return lt
}

// prepare assembles and prepares the workers of a LoadTest.
func (e experiment) prepare(t *testing.T, lt *v1beta1.LoadTest) []*assemble.Assembly {
	t.Helper()
	assignments, err := harness.Plan(lt)
	must.Succeed(t, err)
	config := assemble.Config{Version: "defects", Limits: health.SystemLimits(), Lookup: e.lookup}
	if e.connections > 0 {
		config.Limits.Ports = e.connections
	}
	workers := make([]*assemble.Assembly, len(assignments))
	for i, a := range assignments {
		workers[i], err = assemble.New(t.Context(), a, config, func(error) {})
		must.Succeed(t, err)
		t.Cleanup(workers[i].Close)
		if e.url != "" {
			continue // there may be nothing to connect to
		}
		must.Succeed(t, workers[i].Prepare(t.Context(), func(error) {}))
	}
	return workers
}

// runStep runs the step with an index on all workers, and returns its start on the
// kernel's clock and the merged measurement.
func (e experiment) runStep(t *testing.T, workers []*assemble.Assembly, index int32) (start int64, merged *measure.Measurement) {
	t.Helper()
	start = groundtruth.Now() + int64(50*ms)
	runs := make([]*attack.Execution, len(workers))
	for i, w := range workers {
		step, err := w.Step(index)
		must.Succeed(t, err)
		runs[i] = w.Runner(step).Start(step, groundtruth.Instant(start))
	}
	return start, e.collect(t, runs)
}

// collect merges what the workers measured, as it travels.
func (e experiment) collect(t *testing.T, runs []*attack.Execution) *measure.Measurement {
	t.Helper()
	requests := max(1, len(e.spec.Requests))
	var readings []*wire.Reading
	ledgers := &measure.Measurement{}
	for i, x := range runs {
		select {
		case <-x.Done():
		case <-time.After(patience):
			t.Fatal("the step does not end")
		}
		s, err := x.Snapshot()
		must.Succeed(t, err)
		s.Clients = x.Clients()
		if !e.busy {
			// The control group of these tests may be throttled, and other tests have the
			// processors: what that does to the load would make any verdict inconclusive.
			s.Health.CPUThrottled, s.Health.RunQueueWait, s.Health.Stalled = 0, 0, 0
		}
		asPlanned(s)
		if e.alter != nil {
			e.alter(i, s)
		}
		m, err := wire.Encode(s)
		must.Succeed(t, err)
		r, err := wire.Read(m, requests)
		must.Succeed(t, err)
		readings = append(readings, r)
		clients, err := wire.ReadClients(m)
		must.Succeed(t, err)
		must.Succeed(t, ledgers.Merge(&measure.Measurement{Clients: clients}))
	}
	merged, err := wire.Merge(requests, readings...)
	must.Succeed(t, err)
	merged.Clients = ledgers.Clients
	return merged
}

// asPlanned takes away by how much the generator displaced the load that it sent. What it did
// not send stays its own: else that would be the target's.
func asPlanned(s *measure.Measurement) {
	s.HeldUp, s.BurstSpread = 0, 0
	for i := range s.Requests {
		s.Requests[i].Displaced = 0
	}
}

// steady takes away what a worker says of its own delay, which may be the whole of a short response time
// where its processors are taken: what is judged is what was measured.
func steady(_ int, s *measure.Measurement) {
	s.Lateness = measure.NewHistogram()
	for i := range s.Requests {
		s.Requests[i].Ideal = nil
	}
}

// judge is the operator's part.
func (o *outcome) judge(t *testing.T, lt *v1beta1.LoadTest) {
	t.Helper()
	var err error
	o.total, err = o.merged.Total()
	must.Succeed(t, err)
	o.status = lt.Status
	step := &o.status.Steps[0]
	// Nothing was sent before: the buckets of a limiter are full.
	o.result, err = results.StepResult(lt, step, o.merged, forever)
	must.Succeed(t, err)
	results.Settle(o.result)
	step.State, step.WorkersReporting, step.Result = v1beta1.StepComplete, o.status.Workers.Desired, o.result
	judged := verdict.Judge(&lt.Spec, &o.status, 0, o.merged)
	o.status.Thresholds, step.ThresholdState = judged.Thresholds, judged.Step
	o.judgement = verdict.Final(&lt.Spec, &o.status)
}

// measured is an experiment without a server: fill makes the measurement of its one
// worker.
func measured(t *testing.T, spec v1beta1.LoadTestSpec, fill func(*measure.Measurement)) outcome {
	t.Helper()
	lt := experiment{spec: spec}.loadTest("http://x")
	if _, err := harness.Plan(lt); err != nil {
		t.Fatal(err)
	}
	o := outcome{merged: measure.NewMeasurement(len(lt.Spec.Requests))}
	o.merged.Timeline = &measure.Timeline{} // in which nothing was outstanding
	fill(o.merged)
	o.judge(t, lt)
	return o
}

// verdictIs checks the verdict of the run, and says whether it is that. It may be Inconclusive
// if the generator did not send the load, on a machine that says itself that it was busy.
func (o outcome) verdictIs(t *testing.T, want v1beta1.Verdict) bool {
	t.Helper()
	if o.judgement.Verdict == want {
		excuses.Right()
		return true
	}
	displaced := o.judgement.Verdict == v1beta1.VerdictInconclusive && o.judgement.Reason == v1beta1.ReasonLoadDisplaced
	if !excuses.Takes(t.Name(), displaced, o.machine) {
		t.Errorf("the verdict is %s, want %s (%s): %s", o.judgement.Verdict, want, o.machine, o.judgement.Message)
	}
	return false
}

// settled are the server's counters once it has counted all requests that were sent,
// without the connections by which each worker found that the target is reachable.
func (o outcome) settled(t *testing.T) groundtruth.Counters {
	t.Helper()
	deadline := time.After(patience)
	for {
		c := o.server.Counters()
		if c.Requests == o.total.Sent {
			c.Connections -= int64(o.workers)
			return c
		}
		select {
		case <-deadline:
			t.Fatalf("the server got %d requests, %d were sent", c.Requests, o.total.Sent)
		case <-time.After(ms):
		}
	}
}

// routes are a server's, each named as its path.
func routes(list map[string]groundtruth.Route) groundtruth.Config {
	return groundtruth.Config{Routes: list, Record: 10_000}
}

func atLeastDuration(t *testing.T, what string, got *metav1.Duration, least time.Duration) {
	t.Helper()
	switch {
	case got == nil:
		t.Errorf("%s is missing", what)
	case float64(got.Duration) < float64(least)*precision:
		t.Errorf("%s is %v, want at least %v", what, got.Duration, least)
	}
}
