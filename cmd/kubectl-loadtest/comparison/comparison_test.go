package comparison_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/comparison"
	"github.com/loadtest-dev/loadtest-operator/test/golden"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// step is one whose median response time is that many milliseconds.
func step(name string, rung, repetition, users int32, millis float64) v1beta1.StepStatus {
	at := func(factor float64) *metav1.Duration {
		return &metav1.Duration{Duration: time.Duration(millis * factor * float64(time.Millisecond))}
	}
	s := v1beta1.StepStatus{
		Name: name, Rung: rung, Repetition: repetition, State: v1beta1.StepComplete, WorkersReporting: 1,
		Load:   v1beta1.StepLoad{Users: users},
		Result: &v1beta1.StepResult{Due: 1000, Goodput: "998.0", ResponseTime: &v1beta1.Latency{P50: at(1), P95: at(2), P99: at(3)}},
	}
	s.Result.Sent, s.Result.Failed = 1000, 2
	return s
}

func finished(name string, steps ...v1beta1.StepStatus) *v1beta1.LoadTest {
	lt := &v1beta1.LoadTest{ObjectMeta: metav1.ObjectMeta{Name: name}}
	lt.Spec.Requests = []v1beta1.Request{{Name: "buy", Type: "Write", HTTP: &v1beta1.HTTPRequest{Method: "POST", Path: "/"}}}
	lt.Status = v1beta1.LoadTestStatus{
		Verdict: v1beta1.VerdictPassed, TargetURL: "http://shop:80", Workers: v1beta1.WorkerCounts{Desired: 1}, Steps: steps,
		Requests:   []v1beta1.RequestStatus{{Name: "buy", Type: "Write"}},
		Conditions: []metav1.Condition{{Type: v1beta1.ConditionFinished, Status: metav1.ConditionTrue}},
	}
	return lt
}

// thrice is a run of two rungs with three repetitions.
func thrice(name string, low, high float64) *v1beta1.LoadTest {
	return finished(name,
		step("100", 1, 1, 100, low), step("1000", 2, 1, 1000, high),
		step("100 (2)", 1, 2, 100, low+1), step("1000 (2)", 2, 2, 1000, high-0.5),
		step("100 (3)", 1, 3, 100, low+2), step("1000 (3)", 2, 3, 1000, high+0.5))
}

// comparing is the comparison of finished LoadTests.
func comparing(t *testing.T, tests ...*v1beta1.LoadTest) *comparison.Comparison {
	t.Helper()
	c, err := comparison.New(tests)
	must.Succeed(t, err)
	return c
}

func TestPages(t *testing.T) {
	other := thrice("v5", 30, 150)
	other.Status.Verdict, other.Status.Workers.Desired, other.Status.TargetURL = v1beta1.VerdictInconclusive, 2, "http://shop-v5:80"
	other.Status.Requests[0].Name, other.Spec.Requests[0].Name = "sell", "sell"
	for i := range other.Status.Steps {
		other.Status.Steps[i].WorkersReporting = 2
	}
	other.Status.Steps[5].State = v1beta1.StepCut
	other.Status.Steps[3].Result.Generator = &v1beta1.GeneratorStatus{LoadDisplaced: true}
	mixed := func(name string, buy, look float64) *v1beta1.LoadTest {
		lt := thrice(name, 40, 100)
		lt.Status.Requests = append(lt.Status.Requests, v1beta1.RequestStatus{Name: "look", Type: "Read"})
		for i := range lt.Status.Steps {
			s := &lt.Status.Steps[i]
			for request, millis := range map[string]float64{"buy": buy, "look": look} {
				part := step("", 0, 0, 0, millis+float64(i)/10).Result
				s.Result.Requests = append(s.Result.Requests, v1beta1.RequestResult{Name: request, PartResult: v1beta1.PartResult{Counts: part.Counts, ResponseTime: part.ResponseTime}})
			}
		}
		return lt
	}
	streamed := func(name string, first, gap time.Duration) *v1beta1.LoadTest {
		lt := mixed(name, 40, 20)
		for i := range lt.Status.Steps {
			r, times := lt.Status.Steps[i].Result, func(d time.Duration) *v1beta1.EventTimes {
				return &v1beta1.EventTimes{Samples: 1000, P95: &metav1.Duration{Duration: d + time.Duration(i)*time.Millisecond}}
			}
			r.Streams = &v1beta1.StreamsResult{Events: 10_000, EventsPerSecond: "1000.0", FirstEvent: times(first), MeanGap: times(gap)}
			for j := range r.Requests {
				if r.Requests[j].Name == "buy" {
					r.Requests[j].Streams = r.Streams
				}
			}
		}
		return lt
	}
	more := finished("v4", step("100", 1, 0, 100, 35), step("5000", 2, 0, 5000, 900))
	for name, tests := range map[string][]*v1beta1.LoadTest{
		"repetitions": {thrice("v3", 40, 100), thrice("v4", 50, 100)},
		"once":        {finished("v3", step("100", 1, 0, 100, 40)), finished("v3", step("100", 3, 0, 100, 44))},
		"requests":    {mixed("v3", 40, 20), mixed("v4", 40, 60)},
		"streams":     {streamed("v3", 400*time.Millisecond, 20*time.Millisecond), streamed("v4", 300*time.Millisecond, 25*time.Millisecond)},
		"three":       {thrice("v3", 40, 100), more, other},
	} {
		t.Run(name, func(t *testing.T) {
			c := comparing(t, tests...)
			golden.Check(t, filepath.Join("testdata", name+".txt"), c.Text())
			golden.Check(t, filepath.Join("testdata", name+".md"), c.Markdown())
		})
	}
}

func TestWhatCannotBeCompared(t *testing.T) {
	running := finished("v4")
	running.Status.Conditions = nil
	several := finished("v5")
	several.Status.Loads = []v1beta1.LoadStatus{{Name: "readers", Test: "v5-readers"}}
	for want, tests := range map[string][]*v1beta1.LoadTest{
		"compare the LoadTests of its loads, such as v5-readers": {finished("v3"), several},
		"at least two LoadTests":                                 {finished("v3")},
		"LoadTest v4 has not finished":                           {finished("v3"), running},
	} {
		_, err := comparison.New(tests)
		must.Say(t, err, want)
	}
}

// Of two repetitions, both figures and the difference are between them.
func TestTwoRepetitionsAreComparedByTheirMiddle(t *testing.T) {
	twice := func(name string, first, second float64) *v1beta1.LoadTest {
		return finished(name, step("100", 1, 1, 100, first), step("100 (2)", 1, 2, 100, second))
	}
	c := comparing(t, twice("v3", 10, 30), twice("v4", 20, 20))
	for _, want := range []string{"(v3) P50               20ms", "(v4) P50               20ms", "Difference             +33.3%", "the median of the ratios of all pairs"} {
		if !strings.Contains(c.Text(), want) {
			t.Errorf("the page does not have %q:\n%s", want, c.Text())
		}
	}
}

func TestStepWhoseTargetWasChangedIsLeftOut(t *testing.T) {
	other := finished("v4", step("100", 1, 0, 100, 20))
	other.Status.Steps[0].Environment = &v1beta1.StepEnvironment{Changes: []v1beta1.EnvironmentChange{{Spoils: v1beta1.SpoiledStep}}}
	const want = "Step 100 of v4 is left out: its target was changed during the step."
	if got := comparing(t, finished("v3", step("100", 1, 0, 100, 10)), other).Text(); !strings.Contains(got, want) {
		t.Errorf("the page does not have %q:\n%s", want, got)
	}
}
