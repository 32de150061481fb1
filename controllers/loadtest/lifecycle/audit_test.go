package lifecycle_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
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
