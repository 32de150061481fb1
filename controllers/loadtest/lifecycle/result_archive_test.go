package lifecycle_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// lastReport is what is seen of a run whose only worker has sent so many requests.
func lastReport(sent int64, final bool) lifecycle.Observed {
	merged := measure.NewMeasurement(1)
	merged.Due = sent
	r := &merged.Requests[0]
	r.Sent, r.Outcomes[measure.Timeout] = sent, sent
	for range sent {
		r.Response.Record(time.Second)
		r.Service.Record(time.Second)
	}
	return lifecycle.Observed{
		Job:     lifecycle.JobPresent,
		Workers: []exchange.Worker{{Pod: exchange.PodRunning, Connected: true, Ready: true, Final: final}},
		Step:    &exchange.Report{Step: 1, Merged: merged, Reporting: 1, Until: began.Add(time.Minute)},
	}
}

// The archive of a step is stored when the step ends, under the name that the status has.
func TestResultsAreStoredWhenAStepEnds(t *testing.T) {
	decide := func(seen lifecycle.Observed) lifecycle.Decision {
		return lifecycle.Decide(limited(1), policy.Rules{}, seen, began.Add(31*time.Second))
	}
	if d := decide(lastReport(3, false)); d.Store != nil || len(d.Status.ResultRefs) > 0 {
		t.Errorf("while the step runs: %+v is stored, %+v named", d.Store, d.Status.ResultRefs)
	}
	seen := lastReport(3, true)
	d := decide(seen)
	if d.Store == nil || d.Store.Step != 1 || d.Store.Report != seen.Step {
		t.Fatalf("when it ends: %+v is stored", d.Store)
	}
	name := d.Status.Steps[1].Name
	if want := []v1beta1.ResultRef{{Step: name, ConfigMap: d.Store.Name}}; !slices.Equal(d.Status.ResultRefs, want) {
		t.Errorf("the status names %+v, want %+v", d.Status.ResultRefs, want)
	}
	if d.Status.Steps[1].State == v1beta1.StepRunning {
		t.Error("the step does not end")
	}
	if again := decide(lastReport(3, true)); again.Store.Name != d.Store.Name {
		t.Errorf("the same result is stored as %s and as %s", d.Store.Name, again.Store.Name)
	}
	if other := decide(lastReport(4, true)); other.Store.Name == d.Store.Name {
		t.Errorf("other results are stored as %s, too", d.Store.Name)
	}
}

// A step whose archive is given up ends all the same, and says so.
func TestAStepEndsWithoutResultsThatAreGivenUp(t *testing.T) {
	for name, tc := range map[string]struct {
		step   int
		stored bool
	}{"of this step": {1, false}, "of the step before": {0, true}} {
		t.Run(name, func(t *testing.T) {
			seen := lastReport(3, true)
			seen.Unstored = &lifecycle.Unstored{Step: tc.step, Message: strings.Repeat("exceeded quota; ", 100)}
			d := lifecycle.Decide(limited(1), policy.Rules{}, seen, began.Add(31*time.Second))
			if len(d.Status.ResultRefs) != 1 || (d.Store != nil) != tc.stored || d.Status.Steps[1].State == v1beta1.StepRunning {
				t.Fatalf("%+v is stored, %+v named, the step is %s", d.Store, d.Status.ResultRefs, d.Status.Steps[1].State)
			}
			ref := d.Status.ResultRefs[0]
			if (ref.ConfigMap != "") != tc.stored || (ref.Message == "") != tc.stored || len(ref.Message) > 256 {
				t.Errorf("the status names %+v", ref)
			}
			warned := slices.ContainsFunc(d.Events, func(e lifecycle.Event) bool { return e.Reason == lifecycle.ReasonResultsNotStored && e.Warning })
			if warned == tc.stored {
				t.Errorf("there is a warning: %t, want %t", warned, !tc.stored)
			}
		})
	}
}
