package report_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report/reporttest"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/test/golden"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// TestText compares the page of every LoadTest under testdata with the one that
// a person reviewed.
func TestText(t *testing.T) {
	for name, lt := range reporttest.All(t, "testdata") {
		t.Run(name, func(t *testing.T) {
			golden.Check(t, "testdata/"+name+".txt", report.Text(lt))
		})
	}
}

// TestTextInvariants holds for every page, whatever is in it.
func TestTextInvariants(t *testing.T) {
	for file, lt := range reporttest.All(t, "testdata") {
		before := lt.DeepCopy()
		text := report.Text(lt)
		if diff := cmp.Diff(before, lt); diff != "" {
			t.Errorf("%s: Text() changed its argument (-before +after):\n%s", file, diff)
		}
		if again := report.Text(lt); again != text {
			t.Errorf("%s: two reports of one LoadTest differ", file)
		}
		if !strings.HasSuffix(text, "\n") || strings.HasSuffix(text, "\n\n") {
			t.Errorf("%s: the report does not end with one line break", file)
		}
		for n, line := range strings.Split(text, "\n") {
			if strings.TrimRight(line, " \t") != line {
				t.Errorf("%s: line %d ends with a space: %q", file, n+1, line)
			}
			if strings.Contains(line, "%!") || strings.Contains(line, "<nil>") {
				t.Errorf("%s: line %d is badly formatted: %q", file, n+1, line)
			}
		}
	}
}

func TestTitle(t *testing.T) {
	type load = v1beta1.StepLoad
	five, quarter := v1beta1.NewDecimal("5"), v1beta1.NewDecimal("0.250")
	half, twenty := v1beta1.NewDecimal("0.5"), v1beta1.NewDecimal("20")
	burst := load{Users: 50, RequestsPerUser: 4}
	tests := map[string]struct {
		name string
		load load
		want string
	}{
		"a rung":                     {name: "1000", load: load{Users: 1000}, want: "1000 users"},
		"a default name":             {name: "50 users x 4", load: burst, want: "50 users x 4"},
		"a name of the user's":       {name: "burst", load: burst, want: "burst: 50 users x 4"},
		"arrivals":                   {name: "steady", load: load{Rate: &five}, want: "steady: 5/s"},
		"arrivals under their rate":  {name: "0.25/s", load: load{Rate: &quarter}, want: "0.25/s"},
		"a rate that ends in zero":   {name: "20/s", load: load{Rate: &twenty}, want: "20/s"},
		"a ramp":                     {name: "climb", load: load{Rate: &half, RampTo: &twenty}, want: "climb: 0.5/s to 20/s"},
		"a ramp of users":            {name: "climb", load: load{Users: 10, RampTo: &twenty}, want: "climb: 10 to 20 users"},
		"a ramp under its name":      {name: "10 to 20 users (2)", load: load{Users: 10, RampTo: &twenty}, want: "10 to 20 users (2)"},
		"a pause":                    {name: "refill", load: load{Pause: &metav1.Duration{Duration: time.Second}}, want: "refill: pause 1s"},
		"nothing known but the name": {name: "mystery", want: "mystery"},

		"a rung that comes again":               {name: "1000 (2)", load: load{Users: 1000}, want: "1000 users (2)"},
		"a default name that comes again":       {name: "50 users x 4 (3)", load: burst, want: "50 users x 4 (3)"},
		"a name of the user's that comes again": {name: "burst (2)", load: burst, want: "burst (2): 50 users x 4"},
		"a name that is no number":              {name: "1000 (at night)", load: load{Users: 1000}, want: "1000 (at night): 1000 users"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := report.Title(&v1beta1.StepStatus{Name: test.name, Load: test.load}); got != test.want {
				t.Errorf("Title(%q) = %q, want %q", test.name, got, test.want)
			}
		})
	}
}

// The control's steps have the candidate's titles, and say that they are the control's.
func TestTitleOfTheControl(t *testing.T) {
	for name, want := range map[string]string{
		"1000 on v3": "1000 users on v3", "1000 on v3 (2)": "1000 users on v3 (2)", "1000 users on v3 (2)": "1000 users on v3 (2)", "hot on v3": "hot on v3: 1000 users",
	} {
		if got := report.Title(&v1beta1.StepStatus{Name: name, Side: v1beta1.SideControl, Load: v1beta1.StepLoad{Users: 1000}}); got != want {
			t.Errorf("Title(%q) = %q, want %q", name, got, want)
		}
	}
}

// TestTitleOfDefaultNames ties the titles to the names that package plan gives:
// a step that the user did not name is not named twice.
func TestTitleOfDefaultNames(t *testing.T) {
	var spec v1beta1.LoadTestSpec
	if err := yaml.UnmarshalStrict([]byte(`
target: {url: "http://a"}
requests: [{name: home, http: {}}]
steps:
  - {name: 10 users, users: 10, duration: 5s}
  - {name: 50 users x 4, users: 50, requestsPerUser: 4}
  - {name: 0.5/s, rate: "0.5", duration: 4s}
  - {name: 0.5/s to 12/s, rate: "0.5", rampTo: "12", duration: 4s}
  - {name: 5/s, rate: "5", arrivals: Poisson, duration: 4s}
  - {name: pause 1s, pause: 1s}
`), &spec); err != nil {
		t.Fatal(err)
	}
	for _, step := range plan.Steps(&spec) {
		if got := report.Title(&step); got != step.Name {
			t.Errorf("Title(%q) = %q, want the name alone", step.Name, got)
		}
	}
}

// The longest step of the highest load that was kept says for how long: not one that broke a
// threshold, left it undecided, was cut or let requests pile up.
func TestKeptRateIsSaidOnceWithItsTime(t *testing.T) {
	step := func(rate string, d time.Duration, change func(*v1beta1.StepStatus)) v1beta1.StepStatus {
		of := v1beta1.NewDecimal(rate)
		s := v1beta1.StepStatus{State: v1beta1.StepComplete, ThresholdState: v1beta1.ThresholdPassed, Load: v1beta1.StepLoad{Rate: &of, Duration: &metav1.Duration{Duration: d}}}
		if change != nil {
			change(&s)
		}
		return s
	}
	for name, tt := range map[string]struct {
		longest v1beta1.StepStatus
		want    string
	}{
		"kept":      {step("100", 2*time.Minute, nil), "2m"},
		"breached":  {step("100", 2*time.Minute, func(s *v1beta1.StepStatus) { s.ThresholdState = v1beta1.ThresholdFailed }), "10s"},
		"undecided": {step("100", 2*time.Minute, func(s *v1beta1.StepStatus) { s.ThresholdState = v1beta1.ThresholdInconclusive }), "10s"},
		"an exception": {step("100", 2*time.Minute, func(s *v1beta1.StepStatus) {
			s.Repeated = []v1beta1.RepeatedThreshold{{State: v1beta1.ThresholdFailed}}
		}), "10s"},
		"cut": {step("100", 2*time.Minute, func(s *v1beta1.StepStatus) { s.State = v1beta1.StepCut }), "10s"},
		"growing": {step("100", 2*time.Minute, func(s *v1beta1.StepStatus) {
			s.Result = &v1beta1.StepResult{Outstanding: &v1beta1.OutstandingResult{Trend: v1beta1.OutstandingGrowing}}
		}), "10s"},
		"perhaps growing": {step("100", 2*time.Minute, func(s *v1beta1.StepStatus) {
			s.Result = &v1beta1.StepResult{Outstanding: &v1beta1.OutstandingResult{Trend: v1beta1.OutstandingUncertain}}
		}), "10s"},
		"of the control": {step("100", 2*time.Minute, func(s *v1beta1.StepStatus) { s.Side = v1beta1.SideControl }), "10s"},
		"another rate":   {step("200", 2*time.Minute, nil), "10s"},
	} {
		text := report.Text(&v1beta1.LoadTest{Status: v1beta1.LoadTestStatus{MaxSustainedRate: "100", Steps: []v1beta1.StepStatus{step("100", 10*time.Second, nil), tt.longest}}})
		if n := strings.Count(text, "Kept                every threshold up to 100 requests per second, for "+tt.want+"\n"); n != 1 {
			t.Errorf("%s: it is said %d times for %s:\n%s", name, n, tt.want, text)
		}
	}
}

// A saved LoadTest may be of anyone: none of its texts reaches the terminal as a command.
func TestTextHasNothingThatATerminalObeys(t *testing.T) {
	for name, lt := range reporttest.All(t, "testdata") {
		lt.Name += "\x1b]0;forged\x07"
		for i := range lt.Status.Conditions {
			lt.Status.Conditions[i].Message += "\x1b[2J\r\u202e"
		}
		for i := range lt.Status.Steps {
			lt.Status.Steps[i].Name += "\x1b[1A\u009b"
		}
		if got := report.Text(lt); strings.ContainsAny(got, "\x1b\x07\r\u202e\u009b") {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// A target to which no calls are sent has no descriptors, and the report names none of it.
func TestDescriptorsAreOfTheTargetsThatHaveAny(t *testing.T) {
	versus := func(control string) *v1beta1.VersusStatus {
		return &v1beta1.VersusStatus{Candidate: "v4", Control: "v3", Descriptors: control}
	}
	for name, tt := range map[string]struct {
		target string
		versus *v1beta1.VersusStatus
		want   string
	}{
		"no calls":             {},
		"one target":           {target: "sha256:11", want: "sha256:11"},
		"two with the same":    {target: "sha256:11", versus: versus("sha256:11"), want: "sha256:11"},
		"two with others":      {target: "sha256:11", versus: versus("sha256:22"), want: "sha256:11 of v4, sha256:22 of v3"},
		"only the candidate's": {target: "sha256:11", versus: versus(""), want: "sha256:11 of v4"},
		"only the control's":   {versus: versus("sha256:22"), want: "sha256:22 of v3"},
		"two without calls":    {versus: versus("")},
	} {
		got := ""
		for _, f := range report.Facts(&v1beta1.LoadTest{Status: v1beta1.LoadTestStatus{Descriptors: tt.target, Versus: tt.versus}}) {
			if f.Name == "Descriptors" {
				got = f.Text
			}
		}
		same.As(t, name, tt.want, got)
	}
}

// The status of a run has whole seconds.
func TestShortRunTookLessThanASecond(t *testing.T) {
	at := metav1.NewTime(time.Date(2026, 11, 20, 10, 15, 10, 0, time.UTC))
	facts := report.Facts(&v1beta1.LoadTest{Status: v1beta1.LoadTestStatus{StartTime: &at, CompletionTime: &at}})
	same.As(t, "how long", "2026-11-20 10:15:10 UTC, took less than a second", facts[len(facts)-1].Text)
}

// The name of a Service, however long, stands apart from what it runs.
func TestLongNamesOfServicesStandApart(t *testing.T) {
	lt := &v1beta1.LoadTest{}
	for _, name := range []string{"api", "ratelimiter", strings.Repeat("s", 63)} {
		lt.Status.Environment = &v1beta1.EnvironmentStatus{Configurations: []v1beta1.TargetConfiguration{
			{Service: name, Containers: []v1beta1.TargetContainer{{Name: "app", Image: "shop:v1"}}},
		}}
		if text := report.Text(lt); !strings.Contains(text, "  Service "+name+"  ") {
			t.Errorf("%s does not stand apart:\n%s", name, text)
		}
	}
}

// A number of tokens that was not asked for is not shown as none.
func TestTokensThatWereToldAreShown(t *testing.T) {
	for want, told := range map[string]v1beta1.TokensResult{
		"tokens: 1120 of answers, in 7 streams":                    {Output: 1120, Streams: 7},
		"tokens: 40 of prompts, in 7 streams":                      {Input: 40, Streams: 7},
		"tokens: 40 of prompts and 1120 of answers, in 1 stream\n": {Input: 40, Output: 1120, Streams: 1},
		"tokens: 0 of answers, in 2 streams":                       {Streams: 2},
	} {
		lt := &v1beta1.LoadTest{}
		lt.Status.Steps = []v1beta1.StepStatus{{Name: "s", State: v1beta1.StepComplete, Load: v1beta1.StepLoad{Users: 1}, Result: &v1beta1.StepResult{
			Streams: &v1beta1.StreamsResult{Events: 70, Tokens: &told, FirstEvent: &v1beta1.EventTimes{Samples: 7}},
		}}}
		if page := report.Text(lt); !strings.Contains(page, want) {
			t.Errorf("the page does not say %q:\n%s", want, page)
		}
	}
}

// Of a load whose LoadTest was deleted nothing is among what was measured of all.
func TestLoadsTogetherNameWhatTheyLack(t *testing.T) {
	lt := reporttest.All(t, "testdata")["loads"]
	lt.Status.Loads[1].Result = nil
	if text := report.Text(lt); !strings.Contains(text, "\n  together without writers ") {
		t.Errorf("the row of all loads does not say what it lacks:\n%s", text)
	}
}
