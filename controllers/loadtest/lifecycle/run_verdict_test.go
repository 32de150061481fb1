package lifecycle_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// summaryOf is what programs and people read of the end of a run: the phase, and conditions as
// status and reason, or "" where there is none.
type summaryOf struct {
	Phase                        v1beta1.Phase
	Finished, CarriedOut, Passed string
}

func summarize(s v1beta1.LoadTestStatus) summaryOf {
	short := func(kind string) string {
		c := meta.FindStatusCondition(s.Conditions, kind)
		if c == nil {
			return ""
		}
		return string(c.Status) + " " + c.Reason
	}
	return summaryOf{s.Phase, short(v1beta1.ConditionFinished), short(v1beta1.ConditionCarriedOut), short(v1beta1.ConditionPassed)}
}

// Each verdict, and each way to Error and Canceled, has its conditions and its phase. Until
// then Passed is Unknown, and nothing says that the run has finished.
func TestEachVerdictHasItsConditions(t *testing.T) {
	const finished = v1beta1.PhaseFinished
	for story, tc := range map[string]struct {
		verdict v1beta1.Verdict
		want    summaryOf
	}{
		"passes":                    {v1beta1.VerdictPassed, summaryOf{finished, "True Passed", "True AllStepsRan", "True Passed"}},
		"breaches":                  {v1beta1.VerdictFailed, summaryOf{finished, "True Failed", "True StoppedOnBreach", "False Failed"}},
		"breaches-in-the-last-step": {v1beta1.VerdictFailed, summaryOf{finished, "True Failed", "True AllStepsRan", "False Failed"}},
		"aborts":                    {v1beta1.VerdictFailed, summaryOf{finished, "True Failed", "True Aborted", "False Failed"}},
		"audit-finds-lost-writes":   {v1beta1.VerdictFailed, summaryOf{finished, "True Failed", "True AllStepsRan", "False Failed"}},
		"worker-dies":               {v1beta1.VerdictInconclusive, summaryOf{finished, "True Inconclusive", "True StoppedOnWorkerLoss", "Unknown Inconclusive"}},
		"audit-finds-no-number":     {v1beta1.VerdictInconclusive, summaryOf{finished, "True Inconclusive", "True AllStepsRan", "Unknown Inconclusive"}},
		"terminated":                {v1beta1.VerdictCanceled, summaryOf{finished, "True Canceled", "False Terminated", "Unknown Canceled"}},
		"terminated-before-start":   {v1beta1.VerdictCanceled, summaryOf{finished, "True Canceled", "False Terminated", "Unknown Canceled"}},
		"stopped":                   {v1beta1.VerdictCanceled, summaryOf{finished, "True Canceled", "False Stopped", "Unknown Canceled"}},
		"worker-never-came":         {v1beta1.VerdictError, summaryOf{finished, "True Error", "False StartDeadlineExceeded", "Unknown Error"}},
		"deadline":                  {v1beta1.VerdictError, summaryOf{finished, "True Error", "False DeadlineExceeded", "Unknown Error"}},
		"target-not-allowed":        {v1beta1.VerdictError, summaryOf{finished, "True Error", "False TargetNotAllowed", "Unknown Error"}},
	} {
		t.Run(story, func(t *testing.T) {
			w := newWorld(t, ladder())
			allStories()[story](w)
			w.Wrote = func(lt *v1beta1.LoadTest) {
				if lt.Status.Verdict != "" {
					return
				}
				if diff := cmp.Diff(summaryOf{lt.Status.Phase, "", "", "Unknown NotFinished"}, summarize(lt.Status)); diff != "" || lt.Status.Phase == finished {
					t.Errorf("before the end, in phase %s (-want +got):\n%s", lt.Status.Phase, diff)
				}
			}
			storyOf(t, w)
			s := w.LoadTest().Status
			same.As(t, "the verdict", tc.verdict, s.Verdict)
			same.As(t, "the end", tc.want, summarize(s))
			if over, passed := meta.FindStatusCondition(s.Conditions, v1beta1.ConditionFinished), meta.FindStatusCondition(s.Conditions, v1beta1.ConditionPassed); over.Message == "" || over.Message != passed.Message {
				t.Errorf("Finished says %q, Passed %q; want the same sentence", over.Message, passed.Message)
			}
		})
	}
}
