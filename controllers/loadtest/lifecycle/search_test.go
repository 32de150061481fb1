package lifecycle_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/test/same"
	"github.com/loadtest-dev/loadtest-operator/test/world"
)

// searching is a search of three workers for the most users.
func searching() v1beta1.LoadTestSpec {
	spec := ladder()
	spec.Search = &v1beta1.Search{
		Users: &v1beta1.UsersRange{Min: 100, Max: 2000}, RatePerUser: spec.Ladder.RatePerUser,
		Duration: spec.Ladder.Duration, Rest: spec.Ladder.Rest, Hold: &metav1.Duration{},
	}
	spec.Ladder = nil
	return spec
}

func TestSearchStories(t *testing.T) {
	for name, script := range map[string]func(*world.World){
		"search-finds": func(w *world.World) { w.Users = 777 },
		"search-holds": func(w *world.World) {
			w.Users = 150
			w.LoadTest().Spec.Search.Hold = &metav1.Duration{Duration: 9 * time.Second}
		},
		"search-takes-back": func(w *world.World) {
			w.Users = 150
			w.LoadTest().Spec.Search.Hold = &metav1.Duration{Duration: 9 * time.Second}
			w.After(67500*time.Millisecond, func() { w.Users = 142 })
		},
		"search-beyond-max": func(*world.World) {},
		"search-below-min":  func(w *world.World) { w.Users = 99 },
		"search-in-doubt": func(w *world.World) {
			w.Users = 777
			w.After(9*time.Second, func() { w.Lateness = 500 * time.Millisecond })
		},
		"search-in-doubt-for-a-while": func(w *world.World) {
			w.Users = 150
			w.After(9*time.Second, func() { w.Lateness = 500 * time.Millisecond })
			w.After(13*time.Second, func() { w.Lateness = 0 })
		},
		"search-loses-a-worker": func(w *world.World) { w.After(14*time.Second, func() { w.Workers[1].Die("OOMKilled, exit code 137") }) },
		"search-is-held": func(w *world.World) {
			w.Users = 150
			w.After(4*time.Second, func() { w.LoadTest().Spec.Suspend = true })
			w.After(30*time.Second, func() { w.LoadTest().Spec.Suspend = false })
		},
		"search-is-terminated": func(w *world.World) { w.After(20*time.Second, func() { w.LoadTest().Spec.Terminate = true }) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, searching())
			script(w)
			checkStory(t, w, "stories", name)
		})
	}
}

func TestSearchFindsTheLimit(t *testing.T) {
	w := newWorld(t, searching())
	w.Users = 777
	story := storyOf(t, w)
	s := &w.LoadTest().Status
	want := &v1beta1.SearchStatus{
		Rest: &metav1.Duration{Duration: 2 * time.Second}, Precision: "5%", MaxProbes: 24,
		State: v1beta1.SearchFound, Low: s.Search.Low, High: s.Search.High, Breach: s.Search.Breach, Message: s.Search.Message,
	}
	same.As(t, "search", want, s.Search)
	if s.Verdict != v1beta1.VerdictPassed || s.MaxSustainedUsers == nil || *s.MaxSustainedUsers > 777 || *s.MaxSustainedUsers < 730 {
		t.Errorf("verdict %s with %d users sustained; the target holds 777\n%s", s.Verdict, ptr.Deref(s.MaxSustainedUsers, 0), story)
	}
	for i, step := range s.Steps {
		if step.State != v1beta1.StepComplete || step.Rung != int32(i)+1 {
			t.Errorf("step %d, %s, is %s at rung %d", i, step.Name, step.State, step.Rung)
		}
	}
}

// The run has room, and its workers time, for all probes and holds that may yet come.
func TestSearchIsForeseen(t *testing.T) {
	w := newWorld(t, searching())
	w.LoadTest().Spec.Search.Hold = &metav1.Duration{Duration: 9 * time.Second}
	w.After(5*time.Second, func() {
		s := &w.LoadTest().Status
		same.As(t, "step that it is in", "1", s.Summary.Step)
		if len(s.Steps) > 3 {
			t.Fatalf("%d steps are planned after 5s", len(s.Steps))
		}
		if all := plan.Foreseen(&w.LoadTest().Spec, s); len(all) != 24+23+5+5 || all[56].Load.Users != 2000 || all[56].Rung != 57 || !all[56].Hold {
			t.Errorf("%d steps are foreseen, the last is %+v", len(all), all[len(all)-1])
		}
	})
	storyOf(t, w)
}
