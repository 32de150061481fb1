package lifecycle

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/results"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
)

// Cause is why Decide cannot carry a run on.
type Cause struct {
	// Reason and Message stand in condition CarriedOut.
	Reason, Message string
	// Refused is how often the status of Abandon was refused: each time it is smaller.
	Refused int
}

// StatusRefused is the cause of a run whose status the API server does not take.
func StatusRefused(message string, refused int) *Cause {
	return &Cause{v1beta1.ReasonStatusRefused, fmt.Sprintf("The API server refuses the status of the run: %s Measurements since the last write are lost.", sentence(message)), refused}
}

// PassFailed is the cause of a run for which Decide, or what it needs, panics.
func PassFailed(message string, refused int) *Cause {
	return &Cause{v1beta1.ReasonInternalError, fmt.Sprintf("The operator failed on this run again and again: %s Its log has more; please report it.", sentence(message)), refused}
}

// Abandon ends a run that cannot be carried on: with the status as it was read, which
// could be written once, and why the run ended. It does as little as possible, so that
// it does not fail for the same cause. A finished run goes on as in Decide.
func Abandon(lt *v1beta1.LoadTest, cause *Cause, seen Observed, now time.Time) Decision {
	r := newPass(lt, policy.Rules{}, seen, now)
	if isFinished(r.read.Conditions) {
		inOrder(&finished{r}, finishedPhases)
		r.out.RequeueAfter = r.untilWake()
		return r.out
	}
	s := &r.out.Status
	s.ObservedGeneration, s.Verdict, s.Phase = lt.Generation, v1beta1.VerdictError, v1beta1.PhaseFinished
	s.Steps = r.abandonedSteps(cause.Refused)
	r.giveUpAudits()
	if cause.Refused >= withoutResults {
		s.Baseline, s.Environment = nil, nil
	}
	r.set(v1beta1.ConditionThresholdsMet, metav1.ConditionUnknown, v1beta1.ReasonNotFinished, "The run ended before it could be judged.")
	r.set(v1beta1.ConditionCarriedOut, metav1.ConditionFalse, cause.Reason, cause.Message)
	r.conclude()
	r.complete()
	r.warn(cause.Reason, cause.Message)
	r.out.RequeueAfter = r.untilWake()
	return r.out
}

// How many refusals it takes until a status leaves these parts out.
const withoutHistograms, withoutResults, withoutSteps = 1, 2, 3

// abandonedSteps are the steps of a run that is abandoned. With each refusal they leave out
// more of what takes room: the histograms, the results of the requests and the traces, the results, all.
func (r *pass) abandonedSteps(refused int) []v1beta1.StepStatus {
	if refused >= withoutSteps {
		return nil
	}
	now := metav1.NewMicroTime(r.now)
	steps := r.out.Status.Steps
	for i := range steps {
		s := &steps[i]
		switch s.State {
		case v1beta1.StepPending:
			s.State = v1beta1.StepSkipped
		case v1beta1.StepRunning:
			s.State, s.CompletionTime = v1beta1.StepCut, &now
			if s.Result != nil {
				results.Settle(s.Result)
			}
		}
		switch {
		case refused >= withoutResults:
			s.Result = nil
		case refused >= withoutHistograms && s.Result != nil:
			s.Result.Histogram, s.Result.Traces = "", nil
			results.TrimRequests(r.spec, s.Result, 0)
		}
	}
	return steps
}
