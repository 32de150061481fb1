package report_test

import (
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// What was left out of a log is said, and why the first line that is no request is none.
func TestWhatBecameOfTheLinesOfALogIsSaid(t *testing.T) {
	speed := v1beta1.NewDecimal("2")
	lt := &v1beta1.LoadTest{Status: v1beta1.LoadTestStatus{Steps: []v1beta1.StepStatus{{
		Name: "replay", State: v1beta1.StepComplete, Load: v1beta1.StepLoad{Speed: &speed},
		Result: &v1beta1.StepResult{Replay: &v1beta1.ReplayResult{Lines: 101, NotParsed: 1, OtherMethods: 20, OutsideWindow: 3, Mistake: "line 7: the line has no known format"}},
	}}}}
	text := report.Text(lt)
	same.As(t, "row", []string{"101", "1", "20", "0", "0", "3", "line 7: the line has no known format"}, report.Log(lt.Status.Steps[0].Result))
	for _, want := range []string{
		"replay: a log at speed 2",
		"Log                 101 lines read · 1 not parsed · 20 with other methods · 3 outside of the window\n",
		"                    line 7: the line has no known format\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the report does not say %q:\n%s", want, text)
		}
	}
}
