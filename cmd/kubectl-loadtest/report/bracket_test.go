package report_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report/html"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report/markdown"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func micros(n int64) *metav1.Duration {
	return &metav1.Duration{Duration: time.Duration(n) * time.Microsecond}
}

// Both values are said if they are a millisecond and 2 % apart.
func TestRedirectsThatWereFollowedAreSaid(t *testing.T) {
	for n, want := range map[int64]string{0: "", 3: " · redirects followed 3"} {
		if got := report.Redirects(&v1beta1.StepResult{Redirects: n}); got != want {
			t.Errorf("%d: %q", n, got)
		}
	}
}

func TestBothValuesAreSaidWhereTheyDiffer(t *testing.T) {
	for name, tt := range map[string]struct {
		measured, without *metav1.Duration
		want              string
	}{
		"far apart":              {micros(1_370_000), micros(10_000), "1.4s (10ms)"},
		"the same":               {micros(10_000), micros(10_000), "10ms"},
		"a millisecond":          {micros(5_000), micros(4_000), "5ms (4ms)"},
		"less than that":         {micros(5_000), micros(4_001), "5ms"},
		"2 %":                    {micros(100_000), micros(98_000), "100ms"},
		"more than 2 %":          {micros(100_000), micros(97_900), "100ms (98ms)"},
		"longer without it":      {micros(10_000), micros(20_000), "10ms (20ms)"},
		"the same in two digits": {micros(1_440_000), micros(1_400_000), "1.4s"},
		"too few samples":        {nil, nil, "–"},
		"without it, too few":    {micros(10_000), nil, "10ms"},
		"measured, none, but it": {nil, micros(10_000), "–"},
	} {
		same.As(t, name, tt.want, (report.Bracket{Time: tt.measured, Without: tt.without}).Text(report.Brief))
	}
}

func TestObservedHasBothValuesWhereTheyDiffer(t *testing.T) {
	for want, tt := range map[string][2]string{
		"1.27s (10ms)": {"1.27s", "10ms"}, "10.2ms": {"10.2ms", "10ms"}, "1.44s (1.4s)": {"1.44s", "1.4s"},
		"13.9%": {"13.9%", ""}, "3% (1%)": {"3%", "1%"}, "99.2% (99.9%)": {"99.2%", "99.9%"}, "50%": {"50%", "50.4%"}, "0% (0.1%)": {"0%", "0.1%"},
		"3820.1": {"3820.1", "3820.4"}, "3820.1 (3900)": {"3820.1", "3900"}, "": {"", ""},
	} {
		if got := report.Observed(&v1beta1.ThresholdStatus{Observed: tt[0], WithoutGenerator: tt[1]}); got != want {
			t.Errorf("%v: %q, want %q", tt, got, want)
		}
	}
}

// What delayed the generator is said once: in the verdict's sentence or in a notice, and in a
// threshold only if in neither.
func TestStateOfTheGeneratorIsSaidOnce(t *testing.T) {
	const cause = "A worker stood still for 4s. Run it again."
	const uncertain = "p95 is between 10ms and 1.37s in step 100; at most 500ms is allowed. Without the generator's own delay it is 10ms."
	for name, tt := range map[string]struct {
		met, generator, message, want string
	}{
		"in the verdict":             {uncertain + " " + cause, cause, uncertain + " " + cause, uncertain},
		"in a notice":                {"goodput is 3/s in step 100; at least 5/s is demanded.", cause, uncertain + " " + cause, uncertain},
		"nowhere else":               {"goodput is 3/s in step 100; at least 5/s is demanded.", "", uncertain + " " + cause, uncertain + " " + cause},
		"a load that was not so":     {cause, cause, cause, "The load of step 100 was not the planned one."},
		"a threshold without it":     {cause, cause, uncertain, uncertain},
		"a threshold that says less": {cause, cause, "A worker", "A worker"},
	} {
		s := v1beta1.LoadTestStatus{Steps: []v1beta1.StepStatus{
			{Name: "pause"},
			{Name: "100", Result: &v1beta1.StepResult{Generator: &v1beta1.GeneratorStatus{Message: cause}}},
		}}
		s.Conditions = []metav1.Condition{{Type: v1beta1.ConditionThresholdsMet, Status: metav1.ConditionFalse, Message: tt.met}}
		if tt.generator != "" {
			s.Conditions = append(s.Conditions, metav1.Condition{Type: v1beta1.ConditionGeneratorHealthy, Status: metav1.ConditionFalse, Reason: "NodeBusy", Message: tt.generator})
		}
		s.Thresholds = []v1beta1.ThresholdStatus{{Name: "fast", State: v1beta1.ThresholdInconclusive, Message: tt.message}}
		same.As(t, name, tt.want, report.ThresholdMessages(&s)[0])
		s.Thresholds = append(s.Thresholds, s.Thresholds[0]) // a second one of the same
		s.Verdict = v1beta1.VerdictInconclusive
		// The operator copies the sentence into more conditions.
		s.Conditions = append(s.Conditions, metav1.Condition{Type: v1beta1.ConditionFinished, Message: tt.met}, metav1.Condition{Type: v1beta1.ConditionStalled, Message: tt.met})
		lt := &v1beta1.LoadTest{Status: s}
		page, err := html.Report(lt, nil)
		must.Succeed(t, err)
		for form, text := range map[string]string{"text": report.Text(lt), "html": string(page), "markdown": markdown.Report(lt)} {
			if n := strings.Count(text, cause); n != 1 {
				t.Errorf("%s, %s: it is said %d times:\n%s", name, form, n, text)
			}
		}
	}
}

// What piled up, and for how long the target was down, is a notice unless the verdict or a
// threshold says it.
func TestNoticesOfTheCourseOfAStep(t *testing.T) {
	grown := func(name, by string) v1beta1.StepStatus {
		return v1beta1.StepStatus{Name: name, Result: &v1beta1.StepResult{Outstanding: &v1beta1.OutstandingResult{Mean: "41.0", Trend: v1beta1.OutstandingGrowing, Growth: by}}}
	}
	down := func(name, share string) v1beta1.StepStatus {
		return v1beta1.StepStatus{Name: name, Result: &v1beta1.StepResult{Downtime: share}}
	}
	failed := v1beta1.ThresholdStatus{Metric: v1beta1.MetricDowntime, State: v1beta1.ThresholdFailed}
	kept := v1beta1.ThresholdStatus{Metric: v1beta1.MetricDowntime, State: v1beta1.ThresholdPassed, Default: true, Limit: "0.5%"}
	waived := v1beta1.ThresholdStatus{Metric: v1beta1.MetricDowntime, State: v1beta1.ThresholdPassed, Limit: "100%"}
	for name, tt := range map[string]struct {
		verdict   string
		threshold v1beta1.ThresholdStatus
		steps     []v1beta1.StepStatus
		want      string
	}{
		"it grew":             {"", kept, []v1beta1.StepStatus{grown("400/s", "4.1")}, "Step 400/s: outstanding requests grew by 4.1/s, so its load cannot be kept for long."},
		"fastest in another":  {"", kept, []v1beta1.StepStatus{grown("400/s", "4.1"), grown("500/s", "104.0")}, "Step 500/s: outstanding requests grew by 104/s, so its load cannot be kept for long, the most of 2 such steps."},
		"the verdict says it": {"Kept. Outstanding requests grew by 4.1/s in step 400/s: that load", kept, []v1beta1.StepStatus{grown("400/s", "4.1")}, ""},
		"the verdict says the worst": {"Kept. Outstanding requests grew by 104/s in step 500/s; at that rate p99 passes 1s after 2s of this load", kept,
			[]v1beta1.StepStatus{grown("400/s", "4.1"), grown("500/s", "104.0")}, ""},
		"the verdict says another": {"Kept. Outstanding requests grew by 4.1/s in step 400/s: that load", kept, []v1beta1.StepStatus{grown("400/s", "4.1"), grown("500/s", "104.0")},
			"Step 500/s: outstanding requests grew by 104/s, so its load cannot be kept for long, the most of 2 such steps."},
		"a default that is waived":  {"", waived, []v1beta1.StepStatus{down("100", "0.4%")}, "Step 100: the target was down for 0.4% of the window."},
		"it was down":               {"", kept, []v1beta1.StepStatus{down("100", "1.5%")}, "Step 100: the target was down for 1.5% of the window."},
		"longest in the first":      {"", kept, []v1beta1.StepStatus{down("100", "94%"), down("200", "1.5%")}, "Step 100: the target was down for 94% of the window, the most of 2 such steps."},
		"for as long as is allowed": {"", kept, []v1beta1.StepStatus{down("100", "0.5%")}, ""},
		"a threshold says it":       {"", failed, []v1beta1.StepStatus{down("100", "94%")}, ""},
		"undecided": {"", kept, []v1beta1.StepStatus{{Name: "100", Result: &v1beta1.StepResult{Counts: v1beta1.Counts{Sent: 100, Failed: 6}, Undecided: 3}}},
			"Step 100: 3 of 100 requests had waited for less than their timeout at the end: it is not known whether they failed (3%)."},
		"excused": {"", kept, []v1beta1.StepStatus{{Name: "100", Result: &v1beta1.StepResult{Counts: v1beta1.Counts{Sent: 100}, Excused: 1}}},
			"Step 100: 1 of 100 requests timed out while their worker did not run: they may have been answered in time (1%)."},
	} {
		s := v1beta1.LoadTestStatus{Steps: tt.steps, Thresholds: []v1beta1.ThresholdStatus{tt.threshold},
			Conditions: []metav1.Condition{{Type: v1beta1.ConditionThresholdsMet, Message: tt.verdict}}}
		got := ""
		for _, n := range report.Attention(&s) {
			got += n.Message
		}
		same.As(t, name, tt.want, got)
	}
}

// What may be the generator's growth is said at both ends, and is no notice.
func TestGrowthIsSaidAtBothEnds(t *testing.T) {
	uncertain := &v1beta1.OutstandingResult{Mean: "41.0", Trend: v1beta1.OutstandingUncertain, Growth: "5.0", WithoutGenerator: "0.0"}
	for want, o := range map[string]*v1beta1.OutstandingResult{
		"41 on average, steady":             {Mean: "41.0", Trend: v1beta1.OutstandingSteady},
		"41 on average, growing by 0.046/s": {Mean: "41.0", Trend: v1beta1.OutstandingGrowing, Growth: "0.046"},
		"41 on average, growing by 5/s (4/s without the generator's own delay)": {
			Mean: "41.0", Trend: v1beta1.OutstandingGrowing, Growth: "5.0", WithoutGenerator: "4.0",
		},
		"41 on average, growing by 5/s (0/s without the generator's own delay)": uncertain,
		"": {Mean: "41.0", Trend: v1beta1.OutstandingUnknown},
	} {
		if got := report.Outstanding(o); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	s := v1beta1.LoadTestStatus{Steps: []v1beta1.StepStatus{{Name: "1000/s", Result: &v1beta1.StepResult{Outstanding: uncertain}}}}
	if notices := report.Attention(&s); len(notices) > 0 {
		t.Errorf("a notice: %v", notices)
	}
}

func TestTableOfStepsSaysWhatIsInParentheses(t *testing.T) {
	step := func(name string, without *v1beta1.Latency) v1beta1.StepStatus {
		return v1beta1.StepStatus{Name: name, Result: &v1beta1.StepResult{ResponseTime: &v1beta1.Latency{P95: micros(1_370_000), Longest: micros(1_370_000)}, WithoutGenerator: without}}
	}
	text := func(without *v1beta1.Latency) string {
		return report.Text(&v1beta1.LoadTest{Status: v1beta1.LoadTestStatus{Steps: []v1beta1.StepStatus{step("a", nil), step("b", without)}}})
	}
	if got := text(&v1beta1.Latency{P95: micros(10_000)}); !strings.Contains(got, "\nSteps (in parentheses: without the generator's own delay)\n") || strings.Count(got, "1.4s (10ms)") != 1 {
		t.Errorf("the table does not have both:\n%s", got)
	}
	if got := text(&v1beta1.Latency{P95: micros(1_370_000), Longest: micros(10_000)}); strings.Contains(got, "Steps (in") {
		t.Errorf("only the longest differs, which the table does not have:\n%s", got)
	}
	if got := text(nil); strings.Contains(got, "parentheses") || strings.Contains(got, "own delay") {
		t.Errorf("nothing differs:\n%s", got)
	}
}

func TestUndecidedRequestsHaveNotFailedInTheTableOfSteps(t *testing.T) {
	s := v1beta1.LoadTestStatus{Steps: []v1beta1.StepStatus{{Name: "a", Result: &v1beta1.StepResult{Counts: v1beta1.Counts{Sent: 100, Failed: 6}, Undecided: 4}}}}
	if got := report.Rungs(&s); len(got) != 1 || got[0].Failed != "2%" {
		t.Errorf("%+v, want 2%% failed", got)
	}
}
