package retry_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/retry"
)

var errAway = errors.New("away")

// A service that is away for an hour is found within a second or two of its return,
// and every failure is logged.
func TestUntilItSucceeds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		began, attempts := time.Now(), 0
		err := retry.Until(slog.New(slog.NewTextHandler(&log, nil)), "ask the service")(t.Context(), func(context.Context) error {
			if attempts++; time.Since(began) < time.Hour {
				return errAway
			}
			return nil
		})
		if took := time.Since(began); err != nil || took > time.Hour+2*time.Second {
			t.Errorf("Until = %v after %v, want nil after an hour", err, took)
		}
		if logged := strings.Count(log.String(), `msg="ask the service" error=away retry=`); logged != attempts-1 || logged < 3600/2 {
			t.Errorf("%d of %d failed attempts in an hour were logged", logged, attempts)
		}
	})
}

func TestUntilTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		err := retry.Until(slog.New(slog.DiscardHandler), "")(ctx, func(got context.Context) error {
			if got != ctx {
				t.Error("an attempt has another context than its caller")
			}
			return errAway
		})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Until = %v, want the end of its context", err)
		}
	})
}
