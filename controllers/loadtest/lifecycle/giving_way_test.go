package lifecycle_test

import (
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
)

// A run whose workers were not ready for two minutes gives its place to others that wait, unless it may
// have sent a part of its setup.
func TestWhenARunGivesWay(t *testing.T) {
	const two = 2 * time.Minute
	setup := func(lt *v1beta1.LoadTest, _ *lifecycle.Observed) { lt.Spec.Setup = &v1beta1.Setup{} }
	worker := func(w exchange.Worker) func(*v1beta1.LoadTest, *lifecycle.Observed) {
		return func(lt *v1beta1.LoadTest, seen *lifecycle.Observed) {
			setup(lt, seen)
			seen.Workers[1] = w
		}
	}
	for name, tc := range map[string]struct {
		after time.Duration
		edit  func(*v1beta1.LoadTest, *lifecycle.Observed)
		gives bool
		again time.Duration
	}{
		"a moment before":         {two - time.Second, nil, false, time.Second},
		"then":                    {two, nil, true, 0},
		"no run waits":            {two, func(_ *v1beta1.LoadTest, seen *lifecycle.Observed) { seen.PlaceAwaited = false }, false, 10 * time.Second},
		"taken over a minute ago": {two, func(_ *v1beta1.LoadTest, seen *lifecycle.Observed) { seen.Since = began.Add(time.Minute) }, false, time.Minute},
		"taken over in this pass": {two, func(_ *v1beta1.LoadTest, seen *lifecycle.Observed) { seen.Since = time.Time{} }, false, 0},
		"without a setup, a pod runs": {two, func(_ *v1beta1.LoadTest, seen *lifecycle.Observed) {
			seen.Workers[1] = exchange.Worker{Pod: exchange.PodRunning}
		}, true, 0},
		"with a setup, no pod runs":   {two, setup, true, 0},
		"with a setup, a pod is gone": {two, worker(exchange.Worker{}), true, 0},
		"with a setup, a pod runs":    {two, worker(exchange.Worker{Pod: exchange.PodRunning}), false, 10 * time.Second},
		"with a setup, one is there":  {two, worker(exchange.Worker{Pod: exchange.PodWaiting, Connected: true}), false, 10 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			spec := ladder()
			spec.StartDeadlineSeconds = nil
			lt, seen := accepted(spec), awaited(coming, coming, coming)
			seen.PlaceAwaited = true
			if tc.edit != nil {
				tc.edit(lt, &seen)
			}
			if !lifecycle.MayGiveWay(lt, began.Add(two)) || lifecycle.MayGiveWay(lt, began.Add(two-1)) {
				t.Error("it may give way after another time")
			}
			d := decide(lt, seen, tc.after)
			if gives := d.Status.Phase == v1beta1.PhaseQueued; gives != tc.gives || d.RequeueAfter != tc.again {
				t.Errorf("phase %s, again after %v; want %v", d.Status.Phase, d.RequeueAfter, tc.again)
			}
		})
	}
	over := accepted(ladder())
	finish(over)
	for name, lt := range map[string]*v1beta1.LoadTest{"not taken up": {}, "finished": over, "under way": limited(0)} {
		if lifecycle.MayGiveWay(lt, began.Add(time.Hour)) {
			t.Errorf("one that is %s may give way", name)
		}
	}
}
