package http

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/loadtest-dev/loadtest-operator/targets/ratelimiter"
	"github.com/loadtest-dev/loadtest-operator/targets/ratelimiter/limitertest"
	"github.com/loadtest-dev/loadtest-operator/targets/ratelimiter/memory"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func TestDecisionsAreAnsweredAndCounted(t *testing.T) {
	for name, answer := range limitertest.Answers() {
		t.Run(name, func(t *testing.T) {
			s := newService(t, func(c *Config) { c.Limiter, c.OnStoreFailure = answer.Limiter, answer.Policy })
			want := page{
				Status: answer.Status, Headers: map[string]string{"Content-Type": "application/json", "X-Content-Type-Options": "nosniff"},
				Body: `{"msg":"Successfully Hit","time":"2026-11-20T12:00:00Z","instanceId":"pod-abc123"}` + "\n",
			}
			if answer.Error != "" {
				want.Body = fmt.Sprintf("{\"error\":%q}\n", answer.Error)
			}
			for name, value := range answer.Headers {
				want.Headers[http.CanonicalHeaderKey(name)] = value
			}
			same.As(t, "page", want, s.ask("GET", "/api", answer.Client))
			same.As(t, "observed", []observation{{answer.Outcome, 5 * time.Millisecond}}, s.observed)
		})
	}
}

func TestAPITakesAnyMethod(t *testing.T) {
	for _, method := range []string{"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"} {
		s := newService(t, nil)
		if got := s.ask(method, "/api"); got.Status != 200 || len(s.observed) != 1 {
			t.Errorf("%s: status %d, observed %v; want 200, once", method, got.Status, s.observed)
		}
	}
}

func TestAPIUsesClientAddress(t *testing.T) {
	var asked []string
	s := newService(t, func(c *Config) {
		c.Limiter = limitertest.Func(func(_ context.Context, client string) (ratelimiter.Decision, error) {
			asked = append(asked, client)
			return ratelimiter.Decision{Allowed: true}, nil
		})
	})
	s.ask("GET", "/api", "192.168.1.100, 10.1.1.1")
	s.ask("GET", "/api")
	same.As(t, "clients", []string{"192.168.1.100", "192.0.2.1"}, asked)
}

// Whatever it waits for, a decision is answered as the policy says, and before a
// client with a timeout of three seconds gives up.
func TestDecisionHasATimeLimit(t *testing.T) {
	for policy, want := range map[ratelimiter.FailurePolicy]int{ratelimiter.Closed: 503, ratelimiter.Open: 200} {
		t.Run(string(policy), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newService(t, func(c *Config) {
					c.OnStoreFailure = policy
					c.Limiter = limitertest.Func(func(ctx context.Context, _ string) (ratelimiter.Decision, error) {
						<-ctx.Done()
						return ratelimiter.Decision{}, ctx.Err()
					})
				})
				start := time.Now() // of the simulated clock, which is exact
				if got := s.ask("GET", "/api"); got.Status != want {
					t.Errorf("status = %d, want %d", got.Status, want)
				}
				if took := time.Since(start); took != 2*time.Second {
					t.Errorf("answered after %v, want 2s", took)
				}
			})
		})
	}
}

// A client that has gone away has perhaps taken its token: the decision goes on.
func TestClientDisconnectDoesNotCancelDecision(t *testing.T) {
	var ended error
	s := newService(t, func(c *Config) {
		c.Limiter = limitertest.Func(func(ctx context.Context, _ string) (ratelimiter.Decision, error) {
			ended = ctx.Err()
			return ratelimiter.Decision{Allowed: true}, nil
		})
	})
	ctx, leave := context.WithCancel(t.Context())
	leave()
	s.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, "GET", "/api", nil))
	if ended != nil {
		t.Errorf("the decision was asked for with a context that is done: %v", ended)
	}
	same.As(t, "observed", []observation{{ratelimiter.Granted, 5 * time.Millisecond}}, s.observed)
}

// What fails without the store being asked is not worth a line each time.
func TestOutageIsLoggedOnlyByRequestsThatReachTheStore(t *testing.T) {
	for name, tc := range map[string]struct {
		err  error
		want int
	}{
		"asked":     {errors.New("no route to host"), 3},
		"not asked": {fmt.Errorf("open: %w", ratelimiter.ErrNotAsked), 0},
	} {
		t.Run(name, func(t *testing.T) {
			var log strings.Builder
			s := newService(t, func(c *Config) {
				c.Limiter = limitertest.Decide(ratelimiter.Decision{}, tc.err)
				c.Logger = slog.New(slog.NewTextHandler(&log, nil))
			})
			for range 3 {
				if got := s.ask("GET", "/api"); got.Status != 503 {
					t.Errorf("status = %d, want 503", got.Status)
				}
			}
			same.As(t, "lines", tc.want, strings.Count(log.String(), "cannot decide"))
		})
	}
}

// over is the limiter by way of HTTP.
type over struct{ *service }

func (o over) Take(ctx context.Context, client string) (ratelimiter.Decision, error) {
	if err := ctx.Err(); err != nil {
		return ratelimiter.Decision{}, err
	}
	page := o.ask("GET", "/api", client)
	number := func(name string) int64 {
		n, _ := strconv.ParseInt(page.Headers[name], 10, 64)
		return n
	}
	return ratelimiter.Decision{
		Allowed: page.Status == 200, Remaining: number("X-Ratelimit-Remaining"), RetryAfter: time.Duration(number("Retry-After")) * time.Second,
	}, nil
}

func TestHandlerConforms(t *testing.T) {
	limitertest.RunFront(t, func(t *testing.T, c ratelimiter.Contract, now func() time.Time) ratelimiter.Limiter {
		return over{newService(t, func(config *Config) {
			config.Contract, config.Limiter, config.Now = c, memory.New(c, now), now
			config.Observe = func(ratelimiter.Outcome, time.Duration) {}
		})}
	})
}
