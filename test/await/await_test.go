package await_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/loadtest-dev/loadtest-operator/test/await"
)

func TestWaitsEndWhenTheConditionHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		tries := 0
		await.True(t, "a second is over", func() bool { tries++; return time.Since(begun) >= time.Second })
		if took := time.Since(begun); took > time.Second+100*time.Millisecond || tries > 20 {
			t.Errorf("%s and %d tries for a condition that holds after a second", took, tries)
		}
	})
}

func TestWaitsThatAreGivenUpSayWhatWasSeenLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		err := await.Try(ctx, func(context.Context) error { return errors.New("two of three") })
		if err == nil || !strings.Contains(err.Error(), "two of three") || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the error is %v", err)
		}
	})
}

func TestReceiveReturnsTheNextValue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		values := make(chan int)
		go func() {
			<-time.After(time.Minute)
			values <- 7
		}()
		if v := await.Receive(t, "a value comes", values); v != 7 {
			t.Errorf("received %d", v)
		}
	})
}
