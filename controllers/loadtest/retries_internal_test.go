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

// All runs together write 1 MB a second of what is not urgent, and nothing of it while
// what is urgent takes more.
func TestBudget(t *testing.T) {
	now := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	var b budget
	for _, tc := range []struct {
		after time.Duration
		spend int
		want  time.Duration // from then on there is more
	}{
		{0, 0, 0},
		{0, 900_000, 0},
		{0, 100_000, 0},
		{0, 200_000, 200 * time.Millisecond},
		{100 * time.Millisecond, 0, 100 * time.Millisecond},
		{100 * time.Millisecond, 0, 0},
		{0, 10_000_000, 10 * time.Second},
		{-time.Minute, 0, 10 * time.Second}, // a clock that was set back
		{9 * time.Second, 0, time.Second},
		{time.Hour, 1_000_000, 0}, // a second's worth is kept, no more
		{0, 1_000, time.Millisecond},
	} {
		now = now.Add(tc.after)
		b.spend(now, tc.spend)
		if got := b.from(now).Sub(now); got.Round(time.Microsecond) != tc.want {
			t.Errorf("after %v and %d bytes: more in %v, want %v", tc.after, tc.spend, got, tc.want)
		}
	}
}

// The longest delay of the last minute counts, of the latest 256.
func TestLongestDelay(t *testing.T) {
	at := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	var d delays
	same.As(t, "before the first", 0, d.longest(at))
	d.add(at, time.Second)
	d.add(at.Add(time.Second), 3*time.Second)
	d.add(at.Add(30*time.Second), 2*time.Second)
	for after, want := range map[time.Duration]time.Duration{31 * time.Second: 3 * time.Second, 61 * time.Second: 2 * time.Second, 90 * time.Second: 0} {
		if got := d.longest(at.Add(after)); got != want {
			t.Errorf("after %v: %v, want %v", after, got, want)
		}
	}
	for range len(d.ring) {
		d.add(at.Add(30*time.Second), time.Millisecond)
	}
	same.As(t, "after many more", time.Millisecond, d.longest(at.Add(31*time.Second)))
}
