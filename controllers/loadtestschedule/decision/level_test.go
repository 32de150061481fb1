package decision_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/baseline"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtestschedule/decision"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// What the status does not have is read: the LoadTest that finished last, and those that passed or
// failed since the end of the history.
func TestUnreadLoadTests(t *testing.T) {
	runs := []decision.LoadTest{
		finished("a", "00:01:00", "00:02:00", "Passed"), finished("b", "00:03:00", "00:04:00", "Failed"),
		finished("c", "00:04:00", "00:05:00", "Error"), running("d", "00:06:00"),
	}
	known := func(name, completed string) *v1beta1.RunOfSchedule {
		return &v1beta1.RunOfSchedule{Name: name, CompletionTime: &metav1.Time{Time: at(completed)}}
	}
	entry := func(name, completed string) v1beta1.FiguresOfRun {
		return v1beta1.FiguresOfRun{Name: name, CompletionTime: metav1.Time{Time: at(completed)}}
	}
	for name, tc := range map[string]struct {
		last    *v1beta1.RunOfSchedule
		history []v1beta1.FiguresOfRun
		want    []string
	}{
		"nothing is known":        {nil, nil, []string{"a", "b", "c"}},
		"the history begins":      {known("c", "00:05:00"), nil, []string{"a", "b"}},
		"one is in the history":   {known("c", "00:05:00"), []v1beta1.FiguresOfRun{entry("a", "00:02:00")}, []string{"b"}},
		"all are":                 {known("c", "00:05:00"), []v1beta1.FiguresOfRun{entry("a", "00:02:00"), entry("b", "00:04:00")}, nil},
		"the last has no figures": {known("b", "00:04:00"), []v1beta1.FiguresOfRun{entry("b", "00:04:00")}, []string{"c"}},
		"a later one is gone":     {known("x", "00:06:00"), []v1beta1.FiguresOfRun{entry("x", "00:06:00")}, nil},
		"one of the same second":  {known("c", "00:05:00"), []v1beta1.FiguresOfRun{entry("x", "00:04:00")}, []string{"b"}},
	} {
		s := nightly(nil)
		s.Status.LastFinished, s.Status.History = tc.last, tc.history
		if got := decision.Unread(s, runs); !slices.Equal(got, tc.want) {
			t.Errorf("%s: %q is read, want %q", name, got, tc.want)
		}
	}
	var many []decision.LoadTest
	for i := range 70 {
		many = append(many, finished(fmt.Sprintf("r-%02d", i), "00:00:00", fmt.Sprintf("%02d:%02d:00", i/60, i%60), "Passed"))
	}
	got := decision.Unread(nightly(nil), many)
	if len(got) != 60 || got[0] != "r-10" || got[59] != "r-69" {
		t.Errorf("of 70 the newest 60, which a history has, are read, the oldest first; these are: %q", got)
	}
}

func TestFiguresOfALoadTest(t *testing.T) {
	done := metav1.Time{Time: at("00:02:00")}
	with := func(change func(*v1beta1.LoadTest)) *v1beta1.LoadTest {
		lt := finishedIn(v1beta1.Latency{P95: of(time.Millisecond), P99: of(28_511 * time.Microsecond)})
		lt.Name, lt.Status.CompletionTime = "a", &done
		change(lt)
		return lt
	}
	users := int32(300)
	for name, tc := range map[string]struct {
		change func(*v1beta1.LoadTest)
		want   v1beta1.FiguresOfRun
	}{
		"a rate":           {func(lt *v1beta1.LoadTest) { lt.Status.MaxSustainedRate = "380.5" }, v1beta1.FiguresOfRun{P99: "28.511ms", Sustained: "380.5/s"}},
		"users":            {func(lt *v1beta1.LoadTest) { lt.Status.MaxSustainedUsers = &users }, v1beta1.FiguresOfRun{P99: "28.511ms", Sustained: "300 users"}},
		"too few samples":  {func(lt *v1beta1.LoadTest) { lt.Status.Steps[1].Result.ResponseTime.P99 = nil }, v1beta1.FiguresOfRun{}},
		"nothing measured": {func(lt *v1beta1.LoadTest) { lt.Status.Steps = nil }, v1beta1.FiguresOfRun{}},
	} {
		tc.want.Name, tc.want.CompletionTime = "a", done
		same.As(t, name, tc.want, decision.Measure(with(tc.change)).Figures)
	}
}

// lived is a schedule whose LoadTests have finished with these figures, one a minute, and the events
// about it.
func lived(t *testing.T, figures []v1beta1.FiguresOfRun) (s *v1beta1.LoadTestSchedule, said []string) {
	t.Helper()
	s = nightly(func(s *v1beta1.LoadTestSchedule) { s.Spec.Schedule = "" })
	begun := at("00:00:00")
	var run *decision.LoadTest
	for i, f := range figures {
		f.Name, f.CompletionTime = fmt.Sprintf("n-%03d", i), metav1.Time{Time: begun.Add(time.Duration(i) * time.Minute)}
		run = &decision.LoadTest{Name: f.Name, Created: f.CompletionTime.Time, Finished: true, Completed: f.CompletionTime.Time, Verdict: "Passed"}
		d := decision.Decide(s, decision.Observed{Runs: []decision.LoadTest{*run}, Measured: map[string]*decision.Measured{f.Name: {Figures: f}}}, run.Completed)
		s.Status = d.Status
		for _, e := range d.Events {
			if e.Reason == "LevelChanged" {
				said = append(said, e.Message)
			}
		}
	}
	return s, said
}

// times are figures of these p99, in ms.
func times(list ...int) (figures []v1beta1.FiguresOfRun) {
	for _, ms := range list {
		figures = append(figures, v1beta1.FiguresOfRun{P99: fmt.Sprintf("%dms", ms), Sustained: "400/s"})
	}
	return figures
}

// A change of a level shows with the fourth LoadTest of it, is said once, and stays when the LoadTests
// are gone.
func TestLevelChangesOfASchedule(t *testing.T) {
	slower := times(40, 41, 40, 39, 52, 51)
	for _, soon := range [][]v1beta1.FiguresOfRun{slower, append(slower, times(52)...)} {
		if s, said := lived(t, soon); len(s.Status.LevelChanges) > 0 || len(said) > 0 {
			t.Errorf("three LoadTests or fewer are said to be a level: %v, %q", s.Status.LevelChanges, said)
		}
	}
	s, said := lived(t, append(slower, times(52, 52, 51, 52)...))
	want := []v1beta1.LevelChange{{Metric: "p99", Run: "n-004", Time: metav1.Time{Time: at("00:04:00")}, From: "40ms", To: "52ms"}}
	same.As(t, "changes", want, s.Status.LevelChanges)
	same.As(t, "the column", "p99 +30% since n-004", s.Status.Summary.Level)
	if len(said) != 1 || said[0] != "p99 has another level since LoadTest n-004: 52ms instead of 40ms, +30%." {
		t.Errorf("it says %q", said)
	}
	both, _ := lived(t, []v1beta1.FiguresOfRun{
		{Sustained: "100 users"}, {Sustained: "400/s"}, {Sustained: "400/s"}, {Sustained: "400/s"}, {P99: "1ms"}, {Sustained: "300/s"}, {Sustained: "300/s"}, {Sustained: "300/s"}, {Sustained: "300/s"},
	})
	same.As(t, "of rates", []v1beta1.LevelChange{{Metric: "sustained", Run: "n-005", Time: metav1.Time{Time: at("00:05:00")}, From: "400/s", To: "300/s"}}, both.Status.LevelChanges)
}

// Among noise, a change comes and goes, and its beginning moves from LoadTest to LoadTest.
func TestChangeOfALevelIsSaidOnce(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 30 {
		var figures []v1beta1.FiguresOfRun
		for i := range 40 {
			level := []float64{40, 46}[i/20]
			figures = append(figures, v1beta1.FiguresOfRun{P99: fmt.Sprintf("%.3fms", level*(1+0.06*rng.NormFloat64()))})
		}
		_, said := lived(t, figures)
		ups := map[int]bool{}
		for _, message := range said {
			_, since, _ := strings.Cut(message, "LoadTest n-")
			at, err := strconv.Atoi(since[:3])
			must.Succeed(t, err)
			if !strings.Contains(message, "+") {
				continue
			}
			for near := at - 2; near <= at+2; near++ {
				if ups[near] {
					t.Fatalf("one change is said more than once:\n%s", strings.Join(said, "\n"))
				}
			}
			ups[at] = true
		}
	}
}

// What a status has is bounded, whatever the LoadTests are.
func TestHistoryOfAScheduleIsBounded(t *testing.T) {
	var list []int
	for i := range 200 {
		list = append(list, 100<<(i/4%2)) // another level every four
	}
	s, said := lived(t, times(list...))
	if len(s.Status.History) != 60 || s.Status.History[59].Name != "n-199" || s.Status.History[0].Name != "n-140" {
		t.Errorf("the history has %d LoadTests, from %s", len(s.Status.History), s.Status.History[0].Name)
	}
	same.As(t, "changes", 8, len(s.Status.LevelChanges))
	if len(said) < 20 || len(said) > 60 {
		t.Errorf("%d changes were said, of 49", len(said))
	}
	for _, hostile := range []v1beta1.FiguresOfRun{{P99: "NaN", Sustained: "NaN/s"}, {P99: "-1ms", Sustained: "Inf users"}, {P99: "0ms", Sustained: "0/s"}, {P99: strings.Repeat("9", 30) + "ms"}} {
		all := slices.Repeat([]v1beta1.FiguresOfRun{hostile}, 10)
		if s, _ := lived(t, all); len(s.Status.LevelChanges) > 0 {
			t.Errorf("%v changed a level", hostile)
		}
	}
}

// A template that names its own schedule is compared with the level, as soon as there is one.
func TestLoadTestComparedWithTheLevel(t *testing.T) {
	relative, absolute := v1beta1.Threshold{Metric: "p99", MaxIncrease: "10%"}, v1beta1.Threshold{Metric: "p99"}
	s := nightly(func(s *v1beta1.LoadTestSchedule) {
		s.Spec.Template.Spec.Ladder = &v1beta1.Ladder{Users: []int32{10}, Duration: metav1.Duration{Duration: time.Second}}
		s.Spec.Template.Spec.Thresholds = []v1beta1.Threshold{relative, absolute}
		s.Spec.Template.Spec.Baseline = &v1beta1.Baseline{Schedule: "nightly"}
	})
	few := decision.Run(s, "nightly-1", "it is time", decision.Earlier{Level: &baseline.Level{Schedule: "nightly"}})
	if few.Spec.Baseline != nil || len(few.Spec.Thresholds) != 1 || !strings.HasPrefix(few.Annotations[decision.AnnotationNotCompared], "spec.baseline.schedule: a level needs 3 LoadTests of schedule nightly that passed") {
		t.Errorf("with too few: baseline %v, %d thresholds, because %q", few.Spec.Baseline, len(few.Spec.Thresholds), few.Annotations[decision.AnnotationNotCompared])
	}
	level := &baseline.Level{Schedule: "nightly"}
	for range 3 {
		level.Runs = append(level.Runs, baseline.Read(&s.Spec.Template.Spec, passedWith(&s.Spec.Template.Spec)))
	}
	enough := decision.Run(s, "nightly-1", "it is time", decision.Earlier{Level: level})
	if enough.Spec.Baseline == nil || enough.Spec.Baseline.Schedule != "nightly" || !enough.Spec.Baseline.Optional || len(enough.Spec.Thresholds) != 2 || enough.Annotations[decision.AnnotationNotCompared] != "" {
		t.Errorf("with enough: baseline %v, %d thresholds, because %q", enough.Spec.Baseline, len(enough.Spec.Thresholds), enough.Annotations[decision.AnnotationNotCompared])
	}
	// A template that gets a step keeps its thresholds: the new step is not compared yet.
	s.Spec.Template.Spec.Ladder.Users = []int32{10, 20}
	grown := decision.Run(s, "nightly-1", "it is time", decision.Earlier{Level: level})
	if grown.Spec.Baseline == nil || !grown.Spec.Baseline.Optional || len(grown.Spec.Thresholds) != 2 || grown.Annotations[decision.AnnotationNotCompared] != "" {
		t.Errorf("with another step: baseline %v, thresholds %+v, because %q", grown.Spec.Baseline, grown.Spec.Thresholds, grown.Annotations[decision.AnnotationNotCompared])
	}
	s.Spec.Template.Spec.Baseline.Schedule = "weekly"
	if other := decision.Run(s, "nightly-1", "it is time", decision.Earlier{}); other.Spec.Baseline == nil || len(other.Spec.Thresholds) != 2 {
		t.Error("the level of another schedule is not left to the LoadTest")
	}
}
