package resultkeeper

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/sink"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// Fifty runs that finish at once are archived four at a time, and hold up no pass and no
// announcement, even if the store hangs.
func TestAttemptsAreBounded(t *testing.T) {
	ended := make(chan types.NamespacedName, 100)
	k := New(t.Context(), Config{Clock: clocktesting.NewFakePassiveClock(time.Unix(0, 0)), Enqueue: func(n []types.NamespacedName) { ended <- n[0] }})
	begun, hang := make(chan struct{}, 50), make(chan struct{})
	for n := range 50 {
		run := types.UID(fmt.Sprint(n))
		for range 2 { // a pass more, while it is under way
			k.begin(run, types.NamespacedName{Name: string(run)}, Archive, time.Minute, func(context.Context) (string, error) {
				begun <- struct{}{}
				<-hang
				return "kept", nil
			})
		}
	}
	for range attemptsAtOnce {
		<-begun
	}
	k.begin("0", types.NamespacedName{Name: "announced"}, Announcement, time.Minute, func(context.Context) (string, error) { return "", nil })
	if got := <-ended; got.Name != "announced" || len(begun) > 0 {
		t.Errorf("%s ended first, and %d more have begun", got.Name, len(begun))
	}
	close(hang)
	for range 50 {
		<-ended
	}
	if archived, _ := k.efforts("49"); archived != (lifecycle.Effort{Done: "kept", Attempts: 1, At: time.Unix(0, 0)}) || len(ended) > 0 {
		t.Errorf("effort %+v, %d ended more", archived, len(ended))
	}
}

func TestAttemptThatPanicsHasFailed(t *testing.T) {
	ended := make(chan struct{}, 1)
	k := New(t.Context(), Config{Clock: clocktesting.NewFakePassiveClock(time.Unix(0, 0)), Enqueue: func([]types.NamespacedName) { ended <- struct{}{} }})
	for want, try := range map[string]attempt{
		"the connection failed": func(context.Context) (string, error) { panic("hunter2") },
		"of ours":               func(context.Context) (string, error) { return "kept", errors.Join(sink.Problem("of ours")) },
	} {
		k.begin(types.UID(want), types.NamespacedName{}, Archive, time.Minute, try)
		<-ended
		if archived, _ := k.efforts(types.UID(want)); archived.Failed != want || archived.Done != "" || archived.UnderWay {
			t.Errorf("effort %+v, want failed: %s", archived, want)
		}
	}
}

// What is known of a run that is gone is dropped, also when its attempt ends later.
func TestRunThatIsGoneIsForgotten(t *testing.T) {
	ended, hang := make(chan struct{}, 1), make(chan struct{})
	k := New(t.Context(), Config{Clock: clocktesting.NewFakePassiveClock(time.Unix(0, 0)), Enqueue: func([]types.NamespacedName) { ended <- struct{}{} }})
	k.begin("a", types.NamespacedName{}, Archive, time.Minute, func(context.Context) (string, error) { <-hang; return "kept", nil })
	k.Forget("a")
	close(hang)
	<-ended
	if len(k.of) > 0 {
		t.Errorf("%d runs are known", len(k.of))
	}
}

// Each attempt is counted once, as what it was and how it ended.
func TestAttemptsAreTold(t *testing.T) {
	told := map[string]int{}
	k := New(t.Context(), Config{Tried: func(kind Kind, done bool) { told[fmt.Sprint(kind, " ", done)]++ }})
	for _, tc := range []struct {
		kind Kind
		err  error
	}{{Archive, nil}, {Archive, errors.New("no room")}, {Announcement, nil}, {Archive, nil}} {
		if err := k.tried(tc.kind, logr.Discard(), tc.err); !errors.Is(err, tc.err) {
			t.Errorf("got %v, want %v", err, tc.err)
		}
	}
	if want := map[string]int{"Archive true": 2, "Archive false": 1, "Announcement true": 1}; !maps.Equal(told, want) {
		t.Errorf("told %v, want %v", told, want)
	}
	must.Report(t, "the run is not enqueued", New(t.Context(), Config{}).tried(Archive, logr.Discard(), nil))
}
