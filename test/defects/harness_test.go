package defects_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/controllers/plan"
	"github.com/loadtest-dev/loadtest-operator/controllers/results"
	"github.com/loadtest-dev/loadtest-operator/controllers/verdict"
	"github.com/loadtest-dev/loadtest-operator/loadworker/attack"
	"github.com/loadtest-dev/loadtest-operator/loadworker/session"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/measure/wire"
	"github.com/loadtest-dev/loadtest-operator/test/groundtruth"
	"github.com/loadtest-dev/loadtest-operator/test/solo"
)

const (
	ms = time.Millisecond
	// patience bounds a wait that should not take long; it is no assertion.
	patience = 60 * time.Second
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
	options solo.Options
	spec    v1alpha1.LoadTestSpec
	// prepared is called when the workers are, before the step.
	prepared func(*groundtruth.Server)
	// uid is where the seed comes from.
	uid string
	// besides is what a worker met, by its number, that cannot be had in a test.
	besides func(worker int, s *measure.Step)
}

// outcome is what came of it.
type outcome struct {
	server    *groundtruth.Server
	start     int64 // of the step, on the kernel's clock
	merged    *measure.Step
	total     measure.Request
	result    *v1alpha1.StepResult
	status    v1alpha1.LoadTestStatus
	judgement verdict.Judgement
}

func ptr[T any](v T) *T { return &v }

func get(path string) v1alpha1.Request {
	return v1alpha1.Request{Name: path, Weight: 1, Method: "GET", Path: path}
}

func lasting(d time.Duration) *metav1.Duration { return &metav1.Duration{Duration: d} }

// arrivals come at a rate, whether or not others were answered.
func arrivals(perSecond string, d time.Duration) []v1alpha1.Step {
	return []v1alpha1.Step{{Name: "step", Rate: ptr(v1alpha1.Decimal(perSecond)), Duration: lasting(d)}}
}

// paced users send so many requests a second each.
func paced(users int32, each string, d time.Duration) []v1alpha1.Step {
	return []v1alpha1.Step{{Name: "step", Users: &users, RatePerUser: ptr(v1alpha1.Decimal(each)), Duration: lasting(d)}}
}

// burst is so many requests of each user.
func burst(users, each int32) []v1alpha1.Step {
	return []v1alpha1.Step{{Name: "step", Users: &users, RequestsPerUser: &each}}
}

func atMost(metric v1alpha1.Metric, limit string) v1alpha1.Threshold {
	return v1alpha1.Threshold{Metric: metric, Max: &limit}
}

func atLeast(metric v1alpha1.Metric, limit string) v1alpha1.Threshold {
	return v1alpha1.Threshold{Metric: metric, Min: &limit}
}

// run carries the experiment out, as an operator and its workers would.
func (e experiment) run(t *testing.T) outcome {
	t.Helper()
	o := outcome{}
	var err error
	if o.server, err = groundtruth.Start(e.server); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(o.server.Close)
	lt := e.loadTest(o.server.URL())
	assignments, err := plan.Assignments(lt)
	if err != nil {
		t.Fatal(err)
	}
	runners := make([]*attack.Runner, len(assignments))
	for i, a := range assignments {
		runners[i] = e.employ(t, a)
	}
	if e.prepared != nil {
		e.prepared(o.server)
	}
	o.start = groundtruth.Now() + int64(50*ms)
	runs := make([]*attack.Execution, len(runners))
	for i, r := range runners {
		runs[i] = r.Start(session.StepOf(assignments[i].GetSteps()[0]), groundtruth.Instant(o.start))
	}
	o.merged = e.collect(t, runs, len(lt.Spec.Requests))
	o.judge(t, lt)
	return o
}

func (e experiment) loadTest(url string) *v1alpha1.LoadTest {
	lt := &v1alpha1.LoadTest{Spec: e.spec}
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
	timeout := patience
	if e.timeout > 0 {
		timeout = e.timeout
	}
	lt.Spec.Target.Timeout = lasting(timeout)
	if lt.Spec.Requests == nil {
		lt.Spec.Requests = []v1alpha1.Request{get("/${seq}")}
	}
	return lt
}

// employ starts a worker and lets it open its connections.
func (e experiment) employ(t *testing.T, a *workerv1.Assignment) *attack.Runner {
	t.Helper()
	a.Target.AllowSpecialAddresses = true
	r, err := solo.NewRunner(a, e.options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	step := session.StepOf(a.GetSteps()[0])
	if err := step.Check(); err != nil {
		t.Fatal(err)
	}
	if e.url == "" { // else there may be nothing to connect to
		r.Prepare(t.Context(), step)
	}
	return r
}

// collect merges what the workers measured, as it travels.
func (e experiment) collect(t *testing.T, runs []*attack.Execution, requests int) *measure.Step {
	t.Helper()
	var readings []*wire.Reading
	for i, x := range runs {
		select {
		case <-x.Done():
		case <-time.After(patience):
			t.Fatal("the step does not end")
		}
		s, err := x.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		// Where these tests run a control group may hold back whom it likes, which
		// would make any verdict inconclusive.
		s.Health.CPUThrottled = 0
		if e.besides != nil {
			e.besides(i, s)
		}
		m, err := wire.FromStep(s)
		if err != nil {
			t.Fatal(err)
		}
		r, err := wire.Read(m, requests)
		if err != nil {
			t.Fatal(err)
		}
		readings = append(readings, r)
	}
	merged, err := wire.Merge(requests, readings...)
	if err != nil {
		t.Fatal(err)
	}
	return merged
}

// judge is the operator's part.
func (o *outcome) judge(t *testing.T, lt *v1alpha1.LoadTest) {
	t.Helper()
	var err error
	if o.total, err = o.merged.Total(); err != nil {
		t.Fatal(err)
	}
	step := plan.Steps(&lt.Spec)[0]
	// Nothing was sent before: the buckets of a limiter are full.
	if o.result, err = results.StepResult(&lt.Spec, step, o.merged, forever); err != nil {
		t.Fatal(err)
	}
	workers := plan.Workers(&lt.Spec)
	o.status.Workers.Desired = workers
	o.status.Steps = []v1alpha1.StepStatus{{
		Name: step.Name, State: v1alpha1.StepComplete, Users: step.Users, WorkersReporting: workers, Result: o.result,
	}}
	judged := verdict.Judge(&lt.Spec, nil, step, o.merged, o.result)
	o.status.Thresholds, o.status.Steps[0].Thresholds = judged.Thresholds, judged.Step
	o.judgement = verdict.Final(&lt.Spec, &o.status)
}

// measured is an experiment without a server: what its one worker is said to
// have measured.
func measured(t *testing.T, spec v1alpha1.LoadTestSpec, fill func(*measure.Step)) outcome {
	t.Helper()
	lt := experiment{spec: spec}.loadTest("http://x")
	o := outcome{merged: measure.NewStep(len(lt.Spec.Requests))}
	fill(o.merged)
	o.judge(t, lt)
	return o
}

// verdictIs checks the verdict of the run.
func (o outcome) verdictIs(t *testing.T, want v1alpha1.Verdict) {
	t.Helper()
	if o.judgement.Verdict != want {
		t.Errorf("the verdict is %s, want %s: %s", o.judgement.Verdict, want, o.judgement.Message)
	}
}

// settled are the server's counters once it has seen all that was sent.
func (o outcome) settled(t *testing.T) groundtruth.Counters {
	t.Helper()
	deadline := time.After(patience)
	for {
		c := o.server.Counters()
		if c.Requests == o.total.Sent {
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
