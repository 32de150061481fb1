package http

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
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
	plain := map[string]string{"Content-Type": "application/json", "X-Content-Type-Options": "nosniff"}
	with := func(more map[string]string) map[string]string {
		headers := map[string]string{}
		for _, m := range []map[string]string{plain, more} {
			for name, value := range m {
				headers[name] = value
			}
		}
		return headers
	}
	tests := map[string]struct {
		limiter   limiterFunc
		policy    ratelimiter.FailurePolicy
		forwarded string
		want      page
		outcome   ratelimiter.Outcome
	}{
		"granted": {
			limiter: answer(ratelimiter.Decision{Allowed: true, Remaining: 49}, nil),
			want: page{
				Status: 200,
				Headers: with(map[string]string{
					"X-Ratelimit-Limit": "50", "X-Ratelimit-Remaining": "49",
					"Ratelimit-Policy": `"bucket";q=50;w=5`, "Ratelimit": `"bucket";r=49`,
				}),
				Body: `{"msg":"Successfully Hit","time":"2026-11-20T12:00:00Z","instanceId":"pod-abc123"}`,
			},
			outcome: ratelimiter.Granted,
		},
		"denied": {
			limiter: answer(ratelimiter.Decision{RetryAfter: 2100 * time.Millisecond}, nil),
			want: page{
				Status: 429,
				Headers: with(map[string]string{
					"X-Ratelimit-Limit": "50", "X-Ratelimit-Remaining": "0", "Retry-After": "3",
					"Ratelimit-Policy": `"bucket";q=50;w=5`, "Ratelimit": `"bucket";r=0;t=3`,
				}),
				Body: `{"error":"rate limit exceeded"}`,
			},
			outcome: ratelimiter.Denied,
		},
		"contended is not denied": {
			limiter: answer(ratelimiter.Decision{}, fmt.Errorf("take after 10 retries: %w", ratelimiter.ErrContended)),
			want:    page{Status: 503, Headers: plain, Body: `{"error":"rate limiter contended: try again"}`},
			outcome: ratelimiter.Failed,
		},
		"no store fails closed, and says nothing of it": {
			limiter: answer(ratelimiter.Decision{}, errors.New("dial redis:6379: password hunter2")),
			want: page{
				Status: 503, Headers: with(map[string]string{"Retry-After": "3"}),
				Body: `{"error":"rate limiter unavailable: its store does not answer"}`,
			},
			outcome: ratelimiter.Failed,
		},
		"no store fails open, with a header": {
			limiter: answer(ratelimiter.Decision{}, errors.New("dial redis:6379: password hunter2")),
			policy:  ratelimiter.Open,
			want: page{
				Status: 200,
				Headers: with(map[string]string{
					"X-Ratelimit-Limit": "50", "Ratelimit-Policy": `"bucket";q=50;w=5`, "X-Ratelimit-Unchecked": "store unavailable",
				}),
				Body: `{"msg":"Successfully Hit","time":"2026-11-20T12:00:00Z","instanceId":"pod-abc123"}`,
			},
			outcome: ratelimiter.Unchecked,
		},
		"contended is not granted, even when open": {
			limiter: answer(ratelimiter.Decision{}, fmt.Errorf("take after 10 retries: %w", ratelimiter.ErrContended)),
			policy:  ratelimiter.Open,
			want:    page{Status: 503, Headers: plain, Body: `{"error":"rate limiter contended: try again"}`},
			outcome: ratelimiter.Failed,
		},
		"a panic is counted": {
			limiter: func(context.Context, string) (ratelimiter.Decision, error) { panic("boom") },
			want:    page{Status: 500, Headers: plain, Body: `{"error":"internal error"}`},
			outcome: ratelimiter.Failed,
		},
		"a client without a proper name": {
			limiter:   func(context.Context, string) (ratelimiter.Decision, error) { panic("asked") },
			forwarded: "a b",
			want: page{
				Status: 400, Headers: plain,
				Body: `{"error":"first address of X-Forwarded-For: use 1 to 64 letters, digits and any of . : _ -"}`,
			},
			outcome: ratelimiter.Failed,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := newService(t, func(c *Config) { c.Limiter, c.OnStoreFailure = tc.limiter, tc.policy })
			tc.want.Body += "\n"
			same.As(t, "page", tc.want, s.ask("GET", "/api", tc.forwarded))
			want := []observation{{tc.outcome, 5 * time.Millisecond}}
			same.As(t, "observed", want, s.observed)
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
		c.Limiter = limiterFunc(func(_ context.Context, client string) (ratelimiter.Decision, error) {
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
					c.Limiter = limiterFunc(func(ctx context.Context, _ string) (ratelimiter.Decision, error) {
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
		c.Limiter = limiterFunc(func(ctx context.Context, _ string) (ratelimiter.Decision, error) {
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
				c.Limiter = answer(ratelimiter.Decision{}, tc.err)
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
