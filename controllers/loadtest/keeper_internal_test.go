package loadtest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/sink"
)

// Fifty runs that finish at once are archived four at a time, and hold up no pass and no
// announcement, even if the store hangs.
func TestAttemptsAreBounded(t *testing.T) {
	ended := make(chan types.NamespacedName, 100)
	k := NewKeeper(t.Context(), clocktesting.NewFakePassiveClock(time.Unix(0, 0)), func(n []types.NamespacedName) { ended <- n[0] })
	begun, hang := make(chan struct{}, 50), make(chan struct{})
	for n := range 50 {
		run := types.UID(fmt.Sprint(n))
		for range 2 { // a pass more, while it is under way
			k.begin(run, types.NamespacedName{Name: string(run)}, keepArchive, time.Minute, func(context.Context) (string, error) {
				begun <- struct{}{}
				<-hang
				return "kept", nil
			})
		}
	}
	for range keepsAtOnce {
		<-begun
	}
	k.begin("0", types.NamespacedName{Name: "announced"}, keepAnnouncement, time.Minute, func(context.Context) (string, error) { return "", nil })
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
	k := NewKeeper(t.Context(), clocktesting.NewFakePassiveClock(time.Unix(0, 0)), func([]types.NamespacedName) { ended <- struct{}{} })
	for want, try := range map[string]attempt{
		"the connection failed": func(context.Context) (string, error) { panic("hunter2") },
		"of ours":               func(context.Context) (string, error) { return "kept", errors.Join(sink.Problem("of ours")) },
	} {
		k.begin(types.UID(want), types.NamespacedName{}, keepArchive, time.Minute, try)
		<-ended
		if archived, _ := k.efforts(types.UID(want)); archived.Failed != want || archived.Done != "" || archived.UnderWay {
			t.Errorf("effort %+v, want failed: %s", archived, want)
		}
	}
}

// What is known of a run that is gone is dropped, also when its attempt ends later.
func TestRunThatIsGoneIsForgotten(t *testing.T) {
	ended, hang := make(chan struct{}, 1), make(chan struct{})
	k := NewKeeper(t.Context(), clocktesting.NewFakePassiveClock(time.Unix(0, 0)), func([]types.NamespacedName) { ended <- struct{}{} })
	k.begin("a", types.NamespacedName{}, keepArchive, time.Minute, func(context.Context) (string, error) { <-hang; return "kept", nil })
	k.forget("a")
	close(hang)
	<-ended
	if len(k.of) > 0 {
		t.Errorf("%d runs are known", len(k.of))
	}
}
