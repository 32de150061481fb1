package session

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/loadtest-dev/loadtest-operator/test/must"
)

func TestTokenIsReadAtEachConnection(t *testing.T) {
	c := startFakeCoordinator(t)
	var file string
	w := startWorker(t, c, func(c *Config) { file = c.TokenFile })
	s := c.waitForHello(t)
	c.mu.Lock()
	c.token = "rotated"
	c.mu.Unlock()
	must.Succeed(t, os.WriteFile(file, []byte("rotated"), 0o600))
	s.hangUp <- errors.New("again")
	c.waitForHello(t).send(t, finish())
	w.waitForEnd(t, nil)
}

func TestWorkerEndsWhenTheCoordinatorIsUnreachable(t *testing.T) {
	c := startFakeCoordinator(t)
	w := startWorker(t, c, func(c *Config) {
		c.Coordinator, c.Dial, c.GiveUp = "127.0.0.1:1", nil, time.Nanosecond
	})
	if err := w.end(t); err == nil || !strings.HasPrefix(err.Error(), "coordinator 127.0.0.1:1 was unreachable") {
		t.Errorf("ended with %v, want that the coordinator was unreachable", err)
	}
}

// Only a continuous absence ends a worker: each message of the coordinator begins the
// time anew.
func TestLinkGivesUpAfterOneContinuousAbsence(t *testing.T) {
	const giveUp, there = time.Minute, 50 * time.Second
	synctest.Test(t, func(t *testing.T) {
		l := &link{address: "a:1", events: make(chan event, 10_000)}
		l.patience.Store(int64(giveUp))
		var received, tried time.Time
		var waits []time.Duration
		begin := time.Now()
		err := l.run(t.Context(), func(context.Context) (time.Time, error) {
			if !tried.IsZero() {
				waits = append(waits, time.Since(tried))
			}
			if time.Since(begin) < 10*there { // it comes and goes, for longer than giveUp together
				<-time.After(there)
				received = time.Now()
				tried = received
				return received, errors.New("closed")
			}
			tried = time.Now()
			return time.Time{}, errors.New("connection refused")
		})
		if want := "coordinator a:1 was unreachable for 1m"; err == nil || !strings.HasPrefix(err.Error(), want) || !strings.HasSuffix(err.Error(), "s: connection refused") {
			t.Errorf("run = %v, want %s… and why", err, want)
		}
		if away := time.Since(received); away < giveUp || away > giveUp+longestRetry {
			t.Errorf("gave up after %v, want %v and at most a retry more", away, giveUp)
		}
		// It waits a little after each stream that was there, and longer and longer
		// while there is none.
		for i, wait := range waits {
			if wait < shortestRetry/2 || wait > longestRetry || i < 10 && wait > shortestRetry || i >= 15 && wait < longestRetry/2 {
				t.Errorf("wait %d is of %v", i, wait)
			}
		}
		lost := 0
		for range len(l.events) {
			if (<-l.events).lost != nil {
				lost++
			}
		}
		if lost != len(waits) {
			t.Errorf("the worker received %d events of lost streams, want %d", lost, len(waits))
		}
	})
}

// A coordinator that does not accept what the worker sends is asked less and less often, and never given up.
func TestLinkWaitsLongerWhileItsMessagesAreNotAccepted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		l := &link{address: "a:1", events: make(chan event, 10_000)}
		l.patience.Store(int64(time.Minute))
		begin, streams := time.Now(), 0
		err := l.run(ctx, func(context.Context) (time.Time, error) {
			if streams++; time.Since(begin) > 10*time.Minute {
				cancel()
			}
			return time.Now(), status.Error(codes.InvalidArgument, "13 classes, there are 16")
		})
		if most := 10 + int(10*time.Minute/(longestRetry/2)); err != nil || streams > most {
			t.Errorf("run = %v, %d streams in 10 minutes; want no error, and at most %d", err, streams, most)
		}
	})
}

// A worker that the coordinator never said anything to ends after a minute of refusals. Another
// failure in between begins the time anew, and one that received a message waits as long as ever.
func TestLinkEndsWhatIsRefusedForAMinute(t *testing.T) {
	replaced := status.Error(codes.Unauthenticated, "the Job of pod a/b was replaced")
	for name, tt := range map[string]struct {
		stream func(sinceBegin time.Duration) (heard bool, err error)
		want   string
		after  time.Duration
	}{
		"refused": {func(time.Duration) (bool, error) { return false, replaced }, "coordinator a:1 has refused this worker for 1m", longestRefusal},
		"of another pod": {func(time.Duration) (bool, error) {
			return false, status.Error(codes.PermissionDenied, "pod a was replaced by b")
		},
			"coordinator a:1 has refused this worker for 1m", longestRefusal},
		"unreachable in between": {func(at time.Duration) (bool, error) {
			if 40*time.Second < at && at < 50*time.Second {
				return false, status.Error(codes.Unavailable, "connection refused")
			}
			return false, replaced
		}, "coordinator a:1 has refused this worker for 1m", 50*time.Second + longestRefusal},
		"heard of before": {func(at time.Duration) (bool, error) { return at == 0, replaced }, "coordinator a:1 was unreachable for 10m", 10 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := &link{address: "a:1", events: make(chan event, 10_000)}
				l.patience.Store(int64(10 * time.Minute))
				begin := time.Now()
				err := l.run(t.Context(), func(context.Context) (received time.Time, err error) {
					heard, err := tt.stream(time.Since(begin))
					if heard {
						received = time.Now()
					}
					return received, err
				})
				if err == nil || !strings.HasPrefix(err.Error(), tt.want) || !strings.Contains(err.Error(), "replaced") {
					t.Errorf("run = %v, want %s… and why", err, tt.want)
				}
				if took := time.Since(begin); took < tt.after || took > tt.after+2*longestRetry {
					t.Errorf("it took %v, want %v and at most two attempts more", took, tt.after)
				}
			})
		})
	}
}

// A worker whose token cannot be read does not connect without one.
func TestWorkerDoesNotConnectWithoutAToken(t *testing.T) {
	c := startFakeCoordinator(t)
	w := startWorker(t, c, func(c *Config) { c.TokenFile, c.GiveUp = "/does/not/exist", time.Nanosecond })
	if err := w.end(t); err == nil || !strings.Contains(err.Error(), "read token: open /does/not/exist") {
		t.Errorf("ended with %v, want that the token cannot be read", err)
	}
}

func TestWorkerRefusesAnUnknownCertificate(t *testing.T) {
	c, other := startFakeCoordinator(t), startFakeCoordinator(t)
	w := startWorker(t, c, func(c *Config) { c.CA, c.GiveUp = other.ca, time.Nanosecond })
	if err := w.end(t); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("ended with %v, want that the certificate is refused", err)
	}
}

func TestRunRefusesACAThatIsNotPEM(t *testing.T) {
	err := Run(context.Background(), Config{Coordinator: "127.0.0.1:1", CA: []byte("no PEM")})
	if err == nil || !strings.Contains(err.Error(), "coordinator CA") {
		t.Errorf("Run = %v, want an error about the CA", err)
	}
}
