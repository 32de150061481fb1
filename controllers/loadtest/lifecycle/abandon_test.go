package lifecycle_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// A run is abandoned with less each time that its status is refused.
func TestAbandonedStatusShrinks(t *testing.T) {
	for refused, want := range []struct {
		steps, results, histograms, samples int
	}{{2, 2, 2, 4}, {2, 2, 0, 0}, {2, 0, 0, 0}, {}, {}} {
		lt := limited(1)
		for i := range lt.Status.Steps {
			lt.Status.Steps[i].Result = &v1beta1.StepResult{Histogram: "H", Requests: make([]v1beta1.RequestResult, 1), Traces: &v1beta1.TraceResult{}, Counts: v1beta1.Counts{Sent: 5, InFlight: 2}}
		}
		d := lifecycle.Abandon(lt, lifecycle.StatusRefused("too large", refused), lifecycle.Observed{Job: lifecycle.JobPresent}, began.Add(time.Hour))
		got := struct{ steps, results, histograms, samples int }{steps: len(d.Status.Steps)}
		for _, s := range d.Status.Steps {
			if s.Result != nil {
				got.results++
				got.histograms += len(s.Result.Histogram)
				got.samples += len(s.Result.Requests)
				if s.Result.Traces != nil {
					got.samples++
				}
			}
		}
		if got != want {
			t.Errorf("refused %d times: %+v, want %+v", refused, got, want)
		}
		if want.steps > 0 && (d.Status.Steps[0].State != v1beta1.StepComplete || d.Status.Steps[1].State != v1beta1.StepCut) {
			t.Errorf("refused %d times: steps are %s and %s, want Complete and Cut", refused, d.Status.Steps[0].State, d.Status.Steps[1].State)
		}
		if want.results > 0 && (d.Status.Steps[1].Result.InFlight != 0 || d.Status.Steps[1].Result.Failed != 2) {
			t.Errorf("refused %d times: the cut step has %+v, want what was in flight as failed", refused, d.Status.Steps[1].Result.Counts)
		}
		if lt.Status.Steps[1].Result.Histogram != "H" || d.Directive.Finish || d.RequeueAfter != 30*time.Second || len(d.Events) != 1 {
			t.Errorf("refused %d times: directive %+v, again after %v, events %v", refused, d.Directive, d.RequeueAfter, d.Events)
		}
		for kind, want := range map[string]string{
			v1beta1.ConditionCarriedOut:    "False StatusRefused: The API server refuses the status of the run: too large. Measurements since the last write are lost.",
			v1beta1.ConditionFinished:      "True Error: The API server refuses the status of the run: too large. Measurements since the last write are lost.",
			v1beta1.ConditionThresholdsMet: "Unknown NotFinished: The run ended before it could be judged.",
			v1beta1.ConditionStalled:       "True Error: The API server refuses the status of the run: too large. Measurements since the last write are lost.",
		} {
			same.As(t, kind, want, said(d.Status, kind))
		}
	}
}

// Steps that had not begun never do, and nothing is waited for any more.
func TestAbandonedStepsAreSkipped(t *testing.T) {
	lt := storing(limited(0))
	lt.Status.Audits, lt.Status.Workers.Silent = plan.Audits(&lt.Spec), 1
	lt.Status.Internal.Auditing = &v1beta1.Auditing{}
	d := lifecycle.Abandon(lt, lifecycle.PassFailed("no", 0), lifecycle.Observed{}, began.Add(time.Hour))
	if done := d.Status.CompletionTime; d.Status.Internal.Auditing != nil || done == nil || !done.Time.Equal(began.Add(time.Hour)) {
		t.Errorf("it is audited: %+v; completed: %v", d.Status.Internal.Auditing, done)
	}
	if a := d.Status.Audits[0]; a.State != v1beta1.AuditInconclusive || d.Status.Workers.Silent != 0 {
		t.Errorf("the audit is %s, and %d workers are silent; want Inconclusive, and none", a.State, d.Status.Workers.Silent)
	}
	same.As(t, "AuditsPassed", "Unknown NotFinished: The run ended before the audits could be performed.", said(d.Status, v1beta1.ConditionAuditsPassed))
	if d.Status.Steps[1].State != v1beta1.StepSkipped || d.Status.Verdict != v1beta1.VerdictError {
		t.Errorf("the step is %s, the verdict %s; want Skipped, Error", d.Status.Steps[1].State, d.Status.Verdict)
	}
	if got := failure(d.Status); !strings.HasPrefix(got, "InternalError: The operator failed on this run again and again: no. ") {
		t.Errorf("it ended with %s", got)
	}
}

// A run that is over when it is abandoned keeps its status, and its Job goes; so it does
// if the status was restored from a copy that lacks the time.
func TestAbandonedAfterItsEnd(t *testing.T) {
	spec := ladder()
	spec.Terminate = true
	for _, restored := range []bool{false, true} {
		lt := accepted(spec)
		if restored {
			lt.Status.CompletionTime = nil
		}
		d := lifecycle.Abandon(lt, lifecycle.StatusRefused("no", 0), lifecycle.Observed{Job: lifecycle.JobPresent}, began.Add(time.Minute))
		if diff := cmp.Diff(lt.Status, d.Status); diff != "" || d.Job != lifecycle.JobDelete || len(d.Events) > 0 {
			t.Errorf("restored: %t: Job %v, events %v, status (-want +got):\n%s", restored, d.Job, d.Events, diff)
		}
		if d := lifecycle.Decide(lt, policy.Rules{}, lifecycle.Observed{}, began.Add(2*time.Hour)); !d.Delete {
			t.Errorf("restored: %t: the LoadTest outlives its time to live", restored)
		}
	}
}
