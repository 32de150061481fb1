package socket

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestAContextEndsAtItsDeadline(t *testing.T) {
	const timeout = time.Second
	for name, tt := range map[string]struct {
		left  time.Duration // to the deadline
		late  time.Duration // by which the process notes it, 0: as it passes
		after time.Duration // it ends
	}{
		"in time":                      {timeout, 0, timeout},
		"already past":                 {-timeout, 0, 0},
		"noted a little late":          {timeout, stoodStill - 1, 0},
		"the process stood still":      {timeout, stoodStill, goOnFor},
		"the process stood still long": {timeout, time.Hour, goOnFor},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				ctx, cancel := WithDeadline(t.Context(), began.Add(tt.left))
				defer cancel()
				if tt.late > 0 {
					ctx.(*deadlineContext).expire(began.Add(tt.left + tt.late))
				}
				<-ctx.Done()
				if got := time.Since(began); got != tt.after || !errors.Is(ctx.Err(), context.DeadlineExceeded) {
					t.Errorf("it ends after %v by %v, want %v by its deadline", got, ctx.Err(), tt.after)
				}
			})
		})
	}
}

// It ends as its parent does, or when it is cancelled, and what derives from it has its error.
func TestAContextEndsBeforeItsDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		parent, end := context.WithCancel(t.Context())
		first, cancelFirst := WithDeadline(parent, time.Now().Add(time.Hour))
		second, cancelSecond := WithDeadline(parent, time.Now().Add(time.Hour))
		defer cancelSecond()
		cancelFirst()
		if !errors.Is(first.Err(), context.Canceled) || second.Err() != nil {
			t.Errorf("%v, %v; want that the first is cancelled", first.Err(), second.Err())
		}
		end()
		<-second.Done()
		if !errors.Is(second.Err(), context.Canceled) {
			t.Errorf("%v, want that it ends as its parent", second.Err())
		}
		third, cancelThird := WithDeadline(t.Context(), time.Now().Add(time.Hour))
		defer cancelThird()
		child, cancelChild := context.WithCancel(third)
		defer cancelChild()
		<-child.Done()
		if !errors.Is(child.Err(), context.DeadlineExceeded) {
			t.Errorf("%v, want that it ends by the deadline of its parent", child.Err())
		}
	})
}

// What derives from it starts no goroutine: it is told when the context has ended, unless it has
// ended before.
func TestAContextCallsWhatDerivesFromIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := WithDeadline(t.Context(), time.Now().Add(time.Hour))
		after := ctx.(interface{ AfterFunc(func()) func() bool }).AfterFunc
		var calls [4]int
		var stops [4]func() bool
		for i := range stops {
			stops[i] = after(func() { calls[i]++ })
		}
		if !stops[1]() || stops[1]() {
			t.Error("a call is not stopped once")
		}
		cancel()
		synctest.Wait()
		if want := [4]int{1, 0, 1, 1}; calls != want || stops[2]() {
			t.Errorf("calls %v, want %v, and none to stop", calls, want)
		}
		if after(func() { calls[1]++ })() {
			t.Error("a call is stopped of a context that has ended")
		}
		synctest.Wait()
		if calls[1] != 1 {
			t.Error("a context that has ended does not call")
		}
	})
}

func TestAContextOfAParentThatHasEndedKeepsNoTimer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		parent, end := context.WithCancel(t.Context())
		end()
		ctx, cancel := WithDeadline(parent, time.Now().Add(time.Hour))
		defer cancel()
		synctest.Wait()
		if ctx.(*deadlineContext).timer.Stop() {
			t.Error("the timer runs on")
		}
	})
}
