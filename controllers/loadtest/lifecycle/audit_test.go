package lifecycle_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/test/world"
)

// Whatever becomes of the workers, a target that stored all that it was sent stored no
// more than was acknowledged and may have been stored: also when the status of the step
// counts more than this process was told, as workers died before it took the run over.
func TestNoMoreIsStoredThanIsUnknown(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	tight := 0
	for i := range 500 {
		users := rng.Int32N(30) + 1
		f := newFleet(t, rng, v1beta1.Step{Name: "steady",
			Users: &users, RatePerUser: ptr.To(v1beta1.NewDecimal(fmt.Sprint(rng.IntN(4) + 1))), Duration: &metav1.Duration{Duration: time.Second},
		})
		f.lt.Spec.Requests[0].Name, f.lt.Spec.Requests[0].Items = "append", 10
		f.lt.Spec.Audits = []v1beta1.Audit{{Name: "events", Stored: &v1beta1.Stored{Value: ".n", Requests: []string{"append"}}}}
		f.lt.Status.Audits = plan.Audits(&f.lt.Spec)
		if i%2 == 0 && f.broken {
			f.lt.Status.Steps[0].Result = &v1beta1.StepResult{Counts: v1beta1.Counts{Sent: f.served}, Due: f.served}
		}
		a := lifecycle.Decide(f.lt, policy.Rules{}, f.seen, began.Add(time.Hour)).Status.Audits[0]
		switch stored := 10 * f.served; {
		case a.Unknown == nil || stored < a.Acknowledged || stored > a.Acknowledged+*a.Unknown:
			t.Fatalf("case %d: %d are stored, %d acknowledged, %v unknown: %+v", i, stored, a.Acknowledged, a.Unknown, f.seen.Workers)
		case f.broken && stored == a.Acknowledged+*a.Unknown:
			tight++
		}
	}
	if tight == 0 {
		t.Error("no bound was ever reached")
	}
}

// audit makes the run compare what the target has stored.
func audit(w *world.World) {
	w.LoadTest().Spec.Requests[0].Name = "create"
	w.LoadTest().Spec.Audits = []v1beta1.Audit{{Name: "links", Stored: &v1beta1.Stored{
		Read: v1beta1.Reading{HTTP: &v1beta1.Query{Path: "/stats"}}, Value: ".links", Requests: []string{"create"},
	}}}
}

// afterTheSteps is when the numbers are read for the second time.
const afterTheSteps = 15 * time.Second

// auditStories are runs whose numbers are read, from begin to end.
var auditStories = map[string]func(*world.World){
	"audit-passes":              func(*world.World) {},
	"audit-finds-lost-writes":   func(w *world.World) { w.After(6*time.Second, func() { w.Hidden = 7 }) },
	"audit-finds-double-writes": func(w *world.World) { w.After(6*time.Second, func() { w.Extra += 7 }) },
	"audit-waits-for-a-queue": func(w *world.World) {
		w.After(7*time.Second, func() { w.Hidden = 40 })
		w.After(afterTheSteps+20*time.Second, func() { w.Hidden = 0 })
	},
	"audit-finds-no-number":           func(w *world.World) { w.Problem = "GET /stats: status 404" },
	"audit-of-a-restless-number":      func(w *world.World) { w.After(afterTheSteps, func() { w.Restless = true }) },
	"audit-is-read-by-another-worker": func(w *world.World) { w.After(afterTheSteps, func() { w.Workers[0].Die("OOMKilled, exit code 137") }) },
	"audit-has-no-worker-left": func(w *world.World) {
		w.After(afterTheSteps, func() {
			for _, x := range w.Workers {
				x.Die("OOMKilled, exit code 137")
			}
		})
	},
	"audit-after-a-worker-died":   func(w *world.World) { w.Workers[1].DiesIn = 1500 * time.Millisecond },
	"audit-of-requests-in-flight": func(w *world.World) { w.InFlight = 5; w.Workers[1].DiesIn = 1500 * time.Millisecond },
	"audit-is-terminated":         func(w *world.World) { w.After(afterTheSteps, func() { w.LoadTest().Spec.Terminate = true }) },
	"audit-is-suspended-at-first": func(w *world.World) {
		w.After(4*time.Second, func() { w.LoadTest().Spec.Suspend = true })
		w.After(30*time.Second, func() { w.LoadTest().Spec.Suspend = false })
	},
	"audit-after-an-abort": func(w *world.World) {
		w.Latency = 300 * time.Millisecond
		aborts(w)
	},
	"audit-after-a-breach": func(w *world.World) {
		w.LoadTest().Spec.Ladder.StopOnBreach = true
		w.Latency = 300 * time.Millisecond
		w.After(6*time.Second, func() { w.Hidden = 7 })
	},
}

// allStories are those with audits and those without.
func allStories() map[string]func(*world.World) {
	all := maps.Clone(stories)
	maps.Copy(all, lossStories)
	for name, script := range auditStories {
		all[name] = func(w *world.World) {
			audit(w)
			script(w)
		}
	}
	return all
}
