package loadtest

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// However long an outage was, a pass is tried again within seconds of its end, and at
// the instant for which the run asked if that comes before.
func TestRetriesAreCappedAndKeepKnownInstants(t *testing.T) {
	now := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	req := ctrl.Request{NamespacedName: types.NamespacedName{Namespace: "team", Name: "a"}}
	for name, tc := range map[string]struct {
		failed int           // passes before
		wake   time.Duration // 0: none is known
		want   time.Duration
	}{
		"the first":                      {0, 0, firstRetry},
		"the fourth":                     {3, 0, 8 * firstRetry},
		"the hundredth":                  {99, 0, 5 * time.Second},
		"before a deadline":              {99, time.Minute, 5 * time.Second},
		"at a deadline":                  {99, 2 * time.Second, 2 * time.Second},
		"the first, at a deadline":       {0, 3 * time.Millisecond, firstRetry},
		"after a deadline":               {99, -time.Second, 5 * time.Second},
		"an instant that is always next": {99, time.Millisecond, 5 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			reconciler := &Reconciler{Clock: clocktesting.NewFakePassiveClock(now)}
			r := reconciler.options().RateLimiter
			if tc.wake != 0 {
				reconciler.notes.get(req.NamespacedName).wakeAt = now.Add(tc.wake)
			}
			for range tc.failed {
				r.When(req)
			}
			same.As(t, "time until the next try", tc.want, r.When(req))
			if r.Forget(req); tc.wake <= 0 && r.When(req) != firstRetry {
				t.Error("a pass that succeeded does not end the back-off")
			}
		})
	}
}

func TestConflictsBackOff(t *testing.T) {
	for n, want := range map[int]time.Duration{1: conflictRetry, 2: 2 * conflictRetry, 6: 3200 * time.Millisecond, 7: lastRetry, 1000: lastRetry} {
		if got := onConflict(n); got != want {
			t.Errorf("after conflict %d in a row: again after %v, want %v", n, got, want)
		}
	}
}

// Several LoadTests are reconciled at once, so that one that is slow holds up no other.
func TestSeveralPassesAtOnce(t *testing.T) {
	if got := (&Reconciler{}).options().MaxConcurrentReconciles; got < 2 {
		t.Errorf("%d passes at once, want several", got)
	}
}
