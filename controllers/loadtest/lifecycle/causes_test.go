package lifecycle_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/question"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/targetstate"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// asked are rules with a query that has a limit, and one that has none.
func asked(t *testing.T) policy.Rules {
	t.Helper()
	p, err := policy.Load([]byte(`{prometheus: {url: "https://p", queries: [{name: connections, expression: 'max(c{s="$service"}[$window])', limit: 20}, {name: hits, expression: h}]}}`))
	must.Succeed(t, err)
	return p.For("shop")
}

// What pods use is read as long as a step runs, from the end of its warm-up on, and no longer.
func TestUsageIsReadWhileAStepRuns(t *testing.T) {
	for name, tc := range map[string]struct {
		usage, final, url, burst bool
		want                     *lifecycle.Sample
	}{
		"it runs":          {usage: true, want: &lifecycle.Sample{Step: 1, Service: "shortener", From: began.Add(22 * time.Second), To: began.Add(32 * time.Second)}},
		"of no known time": {usage: true, burst: true, want: &lifecycle.Sample{Step: 1, Service: "shortener", From: began.Add(22 * time.Second)}},
		"it is done":       {usage: true, final: true},
		"it is not read":   {},
		"of a URL":         {usage: true, url: true},
	} {
		t.Run(name, func(t *testing.T) {
			lt := limited(1)
			if !tc.url {
				lt.Spec.Target = ladder().Target
			}
			lt.Status.Environment = &v1beta1.EnvironmentStatus{Usage: tc.usage}
			load := &lt.Status.Steps[1].Load
			load.WarmUp = &metav1.Duration{Duration: 2 * time.Second}
			if tc.burst {
				load.Duration, load.MaxDuration, load.RequestsPerUser = nil, load.Duration, 3
			}
			lt.Status.Steps[1].StartTime = ptr.To(metav1.NewMicroTime(began.Add(20 * time.Second)))
			d := lifecycle.Decide(lt, policy.Rules{}, lastReport(3, tc.final), began.Add(31*time.Second))
			same.As(t, "to be read", tc.want, d.Sample)
			if tc.url && d.Look != nil {
				t.Errorf("of a URL is looked at: %+v", d.Look)
			}
		})
	}
}

// The archive of a step has what was read in it.
func TestArchiveHasTheUsageOfItsStep(t *testing.T) {
	lt := limited(1)
	lt.Spec.Target = ladder().Target
	lt.Status.Environment = &v1beta1.EnvironmentStatus{Usage: true}
	began := lt.Status.Steps[1].StartTime.Time
	u := &targetstate.Usage{}
	u.Add([]targetstate.Use{{Pod: "a", Container: "app", From: began, To: began.Add(time.Second), NanoCPU: 5e8}}, began, time.Time{})
	seen := lastReport(3, true)
	seen.Looked = &targetstate.Seen{Look: lifecycle.Look{Step: 1, Point: targetstate.After}, Service: "shortener", At: began, Usage: u}
	d := lifecycle.Decide(lt, policy.Rules{}, seen, began.Add(11*time.Second))
	if d.Store == nil || len(d.Store.Usage) != 1 || d.Store.Usage[0].Points[0].CPUMillis != 500 {
		t.Fatalf("stored is %+v", d.Store)
	}
	lt.Spec.Target, seen.Looked.Step = limited(1).Spec.Target, 0 // a URL, after a step of the control
	if d := lifecycle.Decide(lt, policy.Rules{}, seen, began.Add(11*time.Second)); d.Store == nil || d.Store.Usage != nil {
		t.Errorf("of another step is stored %+v", d.Store)
	}
	if got := d.Status.Steps[1].Environment.Usage; got == nil || len(got.Containers) != 1 || got.Containers[0].CPU != "500m" {
		t.Errorf("the step has %+v", got)
	}
}

// The end of a step waits for the answers, which are recorded before it is judged; where nothing
// is asked, it does not wait.
func TestQueriesAreAskedAtTheEndOfAStep(t *testing.T) {
	results := []v1beta1.QueryResult{{Name: "connections", Value: "7", Limit: "20"}}
	question1 := &question.Asked{Step: 1, Questions: []question.Question{{Name: "connections", Expression: `max(c{s="shortener"}[10000ms])`, Limit: "20"}}}
	for name, tc := range map[string]struct {
		final, asks bool
		side        v1beta1.Side
		answered    *question.Answers
		names       []string
		want        *question.Asked
		ends        bool
	}{
		"it runs":                    {asks: true, names: []string{"connections"}},
		"it is done":                 {asks: true, final: true, names: []string{"connections"}, want: question1},
		"another step was answered":  {asks: true, final: true, names: []string{"connections"}, answered: &question.Answers{Step: 0}, want: question1},
		"it was answered":            {asks: true, final: true, names: []string{"connections"}, answered: &question.Answers{Step: 1, Results: results}, ends: true},
		"of the control":             {asks: true, final: true, side: v1beta1.SideControl, names: []string{"connections"}, ends: true},
		"not asked":                  {final: true, names: []string{"connections"}, ends: true},
		"the run has nothing to ask": {asks: true, final: true, ends: true},
	} {
		t.Run(name, func(t *testing.T) {
			lt := limited(1)
			lt.Spec.Target = ladder().Target
			lt.Status.Internal.Queries, lt.Status.Steps[1].Side = tc.names, tc.side
			seen := lastReport(3, tc.final)
			seen.Step.Merged.Window = 10 * time.Second
			seen.Asks, seen.Answered = tc.asks, tc.answered
			d := lifecycle.Decide(lt, asked(t), seen, began.Add(31*time.Second))
			if tc.want != nil {
				tc.want.At = lt.Status.Steps[1].StartTime.Add(10 * time.Second)
			}
			same.As(t, "to be asked", tc.want, d.Ask)
			step := &d.Status.Steps[1]
			if ended := step.State != v1beta1.StepRunning; ended != tc.ends {
				t.Errorf("the step is %s", step.State)
			}
			if tc.answered != nil && tc.ends {
				same.As(t, "answers", results, step.Queries)
			}
			if tc.want != nil && d.RequeueAfter != time.Second {
				t.Errorf("the next pass is after %v", d.RequeueAfter)
			}
		})
	}
}

// Of a URL no Service is known.
func TestWhatIsAskedOfAURL(t *testing.T) {
	lt, seen := limited(1), lastReport(3, true)
	lt.Status.Internal.Queries, seen.Asks = []string{"connections"}, true
	seen.Step.Merged.Window = 10 * time.Second
	if d := lifecycle.Decide(lt, asked(t), seen, began.Add(31*time.Second)); d.Ask == nil || d.Ask.Questions[0].Problem != "the expression has $service, and the target is not a Service" {
		t.Errorf("asked is %+v", d.Ask)
	}
}

// A step of which nothing was reported is not asked about.
func TestNothingIsAskedWithoutAReport(t *testing.T) {
	lt, seen := limited(1), awaited(exchange.Worker{Pod: exchange.PodEnded})
	lt.Status.Internal.Queries, seen.Asks = []string{"connections"}, true
	if d := lifecycle.Decide(lt, asked(t), seen, began.Add(31*time.Second)); d.Ask != nil || d.Status.Steps[1].State != v1beta1.StepCut {
		t.Errorf("asked is %+v", d.Ask)
	}
}

// A run asks what its thresholds name and what has a limit, from its beginning on.
func TestQueriesOfARun(t *testing.T) {
	for name, tc := range map[string]struct {
		query string
		want  []string
		said  string
	}{
		"with a threshold":    {"hits", []string{"hits", "connections"}, "True Accepted: The spec can be carried out."},
		"without one":         {"", []string{"connections"}, "True Accepted: The spec can be carried out."},
		"with an unknown one": {"other", nil, `False QueryNotAllowed: spec.thresholds[0].query: there is no query "other" for this namespace in prometheus.queries of the operator's configuration; the queries are connections, hits.`},
	} {
		t.Run(name, func(t *testing.T) {
			lt := &v1beta1.LoadTest{Spec: ladder()}
			lt.Spec.Thresholds = nil
			if tc.query != "" {
				lt.Spec.Thresholds = []v1beta1.Threshold{{Metric: v1beta1.MetricQuery, Query: tc.query, Max: ptr.To(intstr.FromInt32(1))}}
			}
			d := lifecycle.Decide(lt, asked(t), lifecycle.Observed{LooksAtTargets: true, SamplesUsage: true}, began)
			same.As(t, "queries", tc.want, d.Status.Internal.Queries)
			same.As(t, "Accepted", tc.said, said(d.Status, v1beta1.ConditionAccepted))
			if env := d.Status.Environment; tc.want != nil && (env == nil || !env.Usage) {
				t.Errorf("environment %+v", env)
			}
		})
	}
}
