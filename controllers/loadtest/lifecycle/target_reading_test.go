package lifecycle_test

import (
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/targetstate"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// The target of a step is read once as the step begins, which waits for nothing, and once
// when all reports are in, which the end of the step waits for.
func TestATargetIsReadBeforeAndAfterAStep(t *testing.T) {
	before, after := lifecycle.Look{Step: 1, Point: targetstate.Before}, lifecycle.Look{Step: 1, Point: targetstate.After}
	reading := func(l lifecycle.Look) *targetstate.Seen {
		return &targetstate.Seen{Look: l, Service: "shortener", At: began}
	}
	for name, tc := range map[string]struct {
		final  bool
		looked *targetstate.Seen
		before bool // it was recorded as the step began
		asks   *lifecycle.Look
		ends   bool
	}{
		"it runs":                     {asks: &before},
		"it runs, and it was read":    {looked: reading(before)},
		"it runs, and that is stored": {before: true},
		"another step was read":       {looked: reading(lifecycle.Look{Step: 0, Point: targetstate.Before}), asks: &before},
		"it is done":                  {final: true, before: true, asks: &after},
		"it is done, and as before":   {final: true, before: true, looked: reading(before), asks: &after},
		"it is done, and it was read": {final: true, before: true, looked: reading(after), ends: true},
	} {
		t.Run(name, func(t *testing.T) {
			lt := limited(1)
			lt.Spec.Target = ladder().Target
			lt.Status.Environment = &v1beta1.EnvironmentStatus{}
			seen := lastReport(3, tc.final)
			seen.Looked = tc.looked
			if tc.before {
				targetstate.Record(&lt.Status, reading(before), nil)
			}
			d := lifecycle.Decide(lt, policy.Rules{}, seen, began.Add(31*time.Second))
			if (d.Look == nil) != (tc.asks == nil) || d.Look != nil && *d.Look != *tc.asks {
				t.Errorf("to be read: %+v, want %+v", d.Look, tc.asks)
			}
			if ended := d.Status.Steps[1].State != v1beta1.StepRunning; ended != tc.ends {
				t.Errorf("the step is %s", d.Status.Steps[1].State)
			}
			if tc.final && !tc.ends && d.RequeueAfter != time.Millisecond {
				t.Errorf("the step ends, and the next pass is after %v", d.RequeueAfter)
			}
			if tc.looked != nil && tc.asks == nil && d.Status.Steps[1].Environment == nil {
				t.Error("what was read is not recorded")
			}
		})
	}
}

// A URL is not read, nor is anything where nothing reads.
func TestWhatIsNotReadOfATarget(t *testing.T) {
	url := ladder()
	url.Target = v1beta1.Target{URL: "http://shortener:8080"}
	for name, tc := range map[string]struct {
		spec  v1beta1.LoadTestSpec
		reads bool
		want  bool
	}{"a Service": {ladder(), true, true}, "a URL": {url, true, false}, "by no process": {ladder(), false, false}} {
		lt := &v1beta1.LoadTest{Spec: tc.spec}
		d := lifecycle.Decide(lt, policy.Rules{}, lifecycle.Observed{LooksAtTargets: tc.reads}, began)
		same.As(t, name+": it is to be read", tc.want, d.Status.Environment != nil)
	}
}

func TestServiceOfAStep(t *testing.T) {
	spec := comparing()
	alone := ladder()
	for name, tc := range map[string]struct {
		spec *v1beta1.LoadTestSpec
		side v1beta1.Side
		want string
	}{
		"of the candidate": {&spec, v1beta1.SideCandidate, "shortener"}, "of the control": {&spec, v1beta1.SideControl, "shortener-v3"},
		"of one target": {&alone, "", "shortener"}, "of no control": {&alone, v1beta1.SideControl, "shortener"},
	} {
		if got := lifecycle.LookedAt(tc.spec, &v1beta1.StepStatus{Side: tc.side}); got.Name != tc.want {
			t.Errorf("%s: %s, want %s", name, got.Name, tc.want)
		}
	}
}
