package lifecycle_test

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/world"
)

// lossStories are runs that go on when a worker is lost.
var lossStories = map[string]func(*world.World){
	"goes-on-without-a-worker": func(w *world.World) {
		goesOn(w)
		w.Workers[1].DiesIn = 1500 * time.Millisecond
	},
	"goes-on-without-a-worker-and-breaches": func(w *world.World) {
		goesOn(w)
		w.Workers[1].DiesIn = 1500 * time.Millisecond
		w.After(6*time.Second, func() { w.Latency = 300 * time.Millisecond })
	},
	"goes-on-without-a-worker-that-is-drained-in-a-rest": func(w *world.World) {
		goesOn(w)
		w.After(6*time.Second, w.Workers[0].Drain)
	},
	"goes-on-without-a-worker-by-users-without-a-rate": func(w *world.World) {
		goesOn(w)
		w.LoadTest().Spec.Ladder.RatePerUser = nil
		w.Workers[1].DiesIn = 1500 * time.Millisecond
	},
	"goes-on-without-a-worker-and-aborts": func(w *world.World) {
		goesOn(w)
		aborts(w)
		w.LoadTest().Spec.Ladder.RatePerUser = nil
		w.Workers[1].DiesIn = 1500 * time.Millisecond
		w.After(26*time.Second, func() { w.Latency = 300 * time.Millisecond })
	},
	"goes-on-until-no-worker-is-left": func(w *world.World) {
		goesOn(w)
		w.LoadTest().Spec.Repetitions = 2
		for i, x := range w.Workers {
			w.After(time.Duration(4+5*i)*time.Second, func() { x.Die("OOMKilled, exit code 137") })
		}
	},
	"goes-on-while-a-worker-is-silent": func(w *world.World) {
		goesOn(w)
		w.LoadTest().Spec.Target.Timeout = &metav1.Duration{Duration: time.Second}
		w.After(4*time.Second, w.Workers[1].FallSilent)
	},
}

func goesOn(w *world.World) {
	if w.LoadTest().Spec.Worker == nil {
		w.LoadTest().Spec.Worker = &v1beta1.Worker{}
	}
	w.LoadTest().Spec.Worker.OnLoss = v1beta1.LossContinue
}
