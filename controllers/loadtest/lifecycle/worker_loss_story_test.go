package lifecycle_test

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
)

// lossStories are runs that go on when a worker is lost.
var lossStories = map[string]func(*simulation){
	"goes-on-without-a-worker": func(w *simulation) {
		goesOn(w)
		w.workers[1].diesIn = 1500 * time.Millisecond
	},
	"goes-on-without-a-worker-and-breaches": func(w *simulation) {
		goesOn(w)
		w.workers[1].diesIn = 1500 * time.Millisecond
		w.in(6*time.Second, func() { w.latency = 300 * time.Millisecond })
	},
	"goes-on-without-a-worker-that-is-drained-in-a-rest": func(w *simulation) {
		goesOn(w)
		w.in(6*time.Second, func() { w.drain() })
	},
	"goes-on-without-a-worker-by-users-without-a-rate": func(w *simulation) {
		goesOn(w)
		w.lt.Spec.Ladder.RatePerUser = nil
		w.workers[1].diesIn = 1500 * time.Millisecond
	},
	"goes-on-without-a-worker-and-aborts": func(w *simulation) {
		goesOn(w)
		aborts(w)
		w.lt.Spec.Ladder.RatePerUser = nil
		w.workers[1].diesIn = 1500 * time.Millisecond
		w.in(26*time.Second, func() { w.latency = 300 * time.Millisecond })
	},
	"goes-on-until-no-worker-is-left": func(w *simulation) {
		goesOn(w)
		w.lt.Spec.Repetitions = 2
		for i, x := range w.workers {
			w.in(time.Duration(4+5*i)*time.Second, func() { w.end(x, "OOMKilled, exit code 137") })
		}
	},
	"goes-on-while-a-worker-is-silent": func(w *simulation) {
		goesOn(w)
		w.lt.Spec.Target.Timeout = &metav1.Duration{Duration: time.Second}
		w.in(4*time.Second, func() {
			x := w.workers[1]
			x.Connected, x.LastSeen, x.stopped = false, w.now, true
		})
	},
}

func goesOn(w *simulation) {
	if w.lt.Spec.Worker == nil {
		w.lt.Spec.Worker = &v1alpha1.Worker{}
	}
	w.lt.Spec.Worker.OnLoss = v1alpha1.LossContinue
}
