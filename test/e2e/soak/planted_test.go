package soak

import (
	"bytes"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/common/expfmt"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/fault"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// process is this one, with the metrics of an operator.
type process struct {
	*testing.T
	registry *prometheus.Registry
	sessions prometheus.Gauge
}

func newProcess(t *testing.T) process {
	t.Helper()
	p := process{t, prometheus.NewRegistry(), prometheus.NewGauge(prometheus.GaugeOpts{Name: "loadtest_coordinator_sessions"})}
	p.registry.MustRegister(p.sessions, collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		collectors.NewGoCollector(collectors.WithGoCollectorRuntimeMetrics(collectors.MetricsAll)))
	return p
}

// sample reads the page of metrics of a process at rest.
func (p process) sample() Sample {
	p.Helper()
	runtime.GC()
	runtime.GC()
	families, err := p.registry.Gather()
	must.Succeed(p, err)
	var page bytes.Buffer
	for _, f := range families {
		if _, err := expfmt.MetricFamilyToText(&page, f); err != nil {
			p.Fatal(err)
		}
	}
	values, err := Metrics(&page)
	must.Succeed(p, err)
	now, collections, err := SampleOf(values)
	must.Succeed(p, err)
	if collections == 0 {
		p.Error("no collection of garbage is counted")
	}
	return now
}

// What a process leaks is found by its page of metrics, and by nothing but that.
func TestPlantedLeaksOfAProcessAreFound(t *testing.T) {
	for name, tc := range map[string]struct {
		plant func(process) (mend func())
		want  string
	}{
		"none":    {func(process) func() { return func() {} }, ""},
		"garbage": {func(process) func() { _ = make([]byte, 2*moreLive); return func() {} }, ""},
		"a goroutine of every tenth run": {func(process) func() {
			end := make(chan struct{})
			for range moreGoroutines + 5 {
				go func() { <-end }()
			}
			return func() { close(end) }
		}, "goroutines"},
		"a session": {func(p process) func() { p.sessions.Inc(); return func() {} }, "sessions"},
		"memory": {func(process) func() {
			held := make([]byte, moreLive+1<<20)
			return func() { runtime.KeepAlive(held) }
		}, "KB in use"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProcess(t)
			before := p.sample()
			mend := tc.plant(p)
			leaks := Leaks(before, p.sample())
			mend()
			switch {
			case tc.want == "" && len(leaks) > 0:
				t.Errorf("found %q", leaks)
			case tc.want != "" && (len(leaks) == 0 || !strings.HasPrefix(leaks[0], tc.want+": ")):
				t.Errorf("found %q, want one of %s", leaks, tc.want)
			}
		})
	}
}

func TestAMetricThatIsMissingIsAnError(t *testing.T) {
	values, err := Metrics(strings.NewReader("go_goroutines 7\nx{reason=\"a\"} 1\nx{reason=\"b\"} 2\n"))
	must.Succeed(t, err)
	same.As(t, "values", map[string]float64{"go_goroutines": 7, "x{a}": 1, "x{b}": 2}, values)
	_, _, err = SampleOf(values)
	must.Say(t, err, "loadtest_coordinator_sessions")
}

// ended are LoadTests that have ended, and what is rightly there of them.
func ended() Objects {
	finished := v1beta1.LoadTest{ObjectMeta: metav1.ObjectMeta{Name: "a", Annotations: map[string]string{"load": "user"}}}
	finished.Status.Conditions = []metav1.Condition{{Type: v1beta1.ConditionFinished, Status: metav1.ConditionTrue}}
	worker := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a-0"}}
	worker.Status.Phase = corev1.PodSucceeded
	return Objects{LoadTests: []v1beta1.LoadTest{finished}, Pods: []corev1.Pod{worker}}
}

// plantings have something stuck, left or counted wrongly, each found once.
var plantings = map[string]struct {
	plant func(*Objects, *Objects, *fault.Outcome)
	want  string
}{
	"nothing": {func(_, _ *Objects, _ *fault.Outcome) {}, ""},
	"a LoadTest that does not end": {func(o, _ *Objects, _ *fault.Outcome) {
		o.LoadTests[0].Status.Conditions[0].Status = metav1.ConditionFalse
	}, "PROBLEM stuck: a (user)"},
	"a LoadTest that is not removed": {func(o, _ *Objects, _ *fault.Outcome) {
		o.LoadTests[0].Spec.TTLSecondsAfterFinished = new(int32)
	}, "PROBLEM stuck: a (user)"},
	"a worker that goes on":             {func(o, _ *Objects, _ *fault.Outcome) { o.Pods[0].Status.Phase = corev1.PodRunning }, "PROBLEM stuck: worker a-0"},
	"a worker that never began":         {func(o, _ *Objects, _ *fault.Outcome) { o.Pods[0].Status.Phase = corev1.PodPending }, "PROBLEM stuck: worker a-0"},
	"a LoadTest with a finalizer":       {func(_, o *Objects, _ *fault.Outcome) { o.LoadTests = ended().LoadTests }, "PROBLEM leaked: LoadTest a"},
	"a Job without its LoadTest":        {func(_, o *Objects, _ *fault.Outcome) { o.Jobs = make([]batchv1.Job, 1) }, "PROBLEM leaked: Job "},
	"a pod without its LoadTest":        {func(_, o *Objects, _ *fault.Outcome) { o.Pods = ended().Pods }, "PROBLEM leaked: Pod a-0"},
	"results without their LoadTest":    {func(_, o *Objects, _ *fault.Outcome) { o.ConfigMaps = make([]corev1.ConfigMap, 1) }, "PROBLEM leaked: ConfigMap "},
	"a request that is not in a status": {func(_, _ *Objects, got *fault.Outcome) { got.Received++ }, "PROBLEM wrong: "},
	"a request that was not sent":       {func(_, _ *Objects, got *fault.Outcome) { got.Received-- }, "PROBLEM wrong: "},
}

func TestPlantedObjectsAreFound(t *testing.T) {
	for name, tc := range plantings {
		atEnd, deleted := ended(), Objects{}
		got := fault.Outcome{Verdict: fault.Passed, Planned: 20, Due: 20, Sent: 20, Completed: 20, Received: 20}
		tc.plant(&atEnd, &deleted, &got)
		r := Report{Stuck: append(atEnd.Unfinished(time.Time{}), atEnd.Working()...), Leaked: deleted.Left()}
		for _, p := range Judge("user", got) {
			r.Wrong = append(r.Wrong, p.String())
		}
		if details := r.Details(); r.OK() != (tc.want == "") || !strings.HasPrefix(details, tc.want) {
			t.Errorf("%s: found %q, want %q", name, details, tc.want)
		}
	}
}

// Another process has other leaks.
func TestAReplacedProcessIsNoCleanOne(t *testing.T) {
	before, after := Sample{Process: "pod-a 1", Goroutines: 500}, Sample{Process: "pod-b 1", Goroutines: 5}
	if leaks := Leaks(before, after); len(leaks) != 1 || !strings.Contains(leaks[0], "pod-a 1 by pod-b 1") {
		t.Errorf("found %q, want that the process was replaced", leaks)
	}
}
