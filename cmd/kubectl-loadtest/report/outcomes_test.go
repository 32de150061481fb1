package report_test

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func TestStatusesOfGRPCHaveNames(t *testing.T) {
	c := &v1beta1.Counts{Completed: 9, StatusCodes: []v1beta1.StatusCodeCount{{Code: 0, Count: 4}, {Code: 5, Count: 2}, {Code: 404, Count: 1}}}
	if got, want := report.StatusCodes(c), "OK: 4 · NOT_FOUND: 2 · 404: 1 · others: 2"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestReportNamesTheStatusOfARateLimit(t *testing.T) {
	for want, codes := range map[string][]v1beta1.StatusCodeCount{
		"Rate limited        6 (60%) with RESOURCE_EXHAUSTED\n":         {{Code: 0, Count: 4}, {Code: 8, Count: 6}},
		"Rate limited        6 (60%) with 429\n":                        {{Code: 200, Count: 4}, {Code: 429, Count: 6}},
		"Rate limited        6 (60%) with RESOURCE_EXHAUSTED and 429\n": {{Code: 0, Count: 4}, {Code: 8, Count: 5}, {Code: 429, Count: 1}},
	} {
		r := &v1beta1.StepResult{Counts: v1beta1.Counts{
			Sent: 10, Completed: 10, Expected: 4, Failed: 6, StatusCodes: codes, Outcomes: v1beta1.Outcomes{Success: 4, RateLimited: 6},
		}}
		if text := textOf(r); !strings.Contains(text, want) || !strings.Contains(text, "Failures            rate limited 6\n") {
			t.Errorf("the report has no %q:\n%s", want, text)
		}
	}
}

// OK is number 0, as a status that is not known.
func TestTraceOfACallHasTheStatusOK(t *testing.T) {
	for outcome, want := range map[string]string{"success": "OK", "unexpectedStatus": "OK", "timeout": "–", "badResponse": "–"} {
		r := &v1beta1.StepResult{Traces: &v1beta1.TraceResult{Slowest: []v1beta1.TracedRequest{{TraceID: "1", Request: "call", Outcome: outcome}}}}
		same.As(t, "the status of a traced call that is "+outcome, want, report.Traces(r)[0][4])
		if want == "–" {
			want = outcome
		}
		if text := textOf(r); !strings.Contains(text, " "+want+" trace 1 call\n") {
			t.Errorf("the report of a traced call that is %s has no %s:\n%s", outcome, want, text)
		}
	}
}

// textOf is the report of a run of one step.
func textOf(r *v1beta1.StepResult) string {
	lt := &v1beta1.LoadTest{Status: v1beta1.LoadTestStatus{Steps: []v1beta1.StepStatus{{Name: "step", StartTime: &metav1.MicroTime{}, Result: r}}}}
	return report.Text(lt)
}
