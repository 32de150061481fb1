package redis

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/redistest"
	"github.com/loadtest-dev/loadtest-operator/targets/ratelimiter"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// tally is a guard that lets every question through, or none, and notes what came
// of them.
type tally struct {
	shut     bool
	outcomes []string
}

func (y *tally) ask(question func() error) error {
	if y.shut {
		return fmt.Errorf("%w: shut", ratelimiter.ErrNotAsked)
	}
	err := question()
	y.outcomes = append(y.outcomes, fmt.Sprint(err))
	return err
}

// Requests that share a round trip are one question, and fail as one.
func TestGuardCountsOneCallPerRoundTrip(t *testing.T) {
	const broken = "WRONGTYPE Operation against a key holding the wrong kind of value"
	tests := map[string]struct {
		replies, want []string
	}{
		"all are answered":               {[]string{granted(2), granted(1), granted(0)}, []string{"<nil>"}},
		"all are lost":                   {nil, []string{"EOF"}},
		"some are answered":              {[]string{granted(2)}, []string{"<nil>"}},
		"one fails by itself":            {[]string{wrong, granted(1), granted(0)}, []string{"<nil>"}},
		"all fail by themselves":         {[]string{wrong, wrong, wrong}, []string{broken}},
		"sent in full, and lost":         {[]string{noScript, noScript, noScript}, []string{"<nil>", "EOF"}},
		"sent in full, and answered":     {[]string{noScript, noScript, noScript, granted(2), granted(1), granted(0)}, []string{"<nil>", "<nil>"}},
		"one sent in full, the rest not": {[]string{granted(2), noScript, granted(1), granted(0)}, []string{"<nil>", "<nil>"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var y tally
			s := scriptOn(t, newFake(t, tt.replies...).addr)
			s.guard = y.ask
			together(s, "a", "b", "c")
			same.As(t, "questions", tt.want, y.outcomes)
		})
	}
}

// A call that the guard refuses sends nothing and returns ErrNotAsked.
func TestGuardRefusalReturnsErrNotAsked(t *testing.T) {
	server := newFake(t, granted(49))
	s := scriptOn(t, server.addr)
	s.guard = (&tally{shut: true}).ask
	for _, got := range together(s, "a", "b") {
		if !strings.HasPrefix(got, ratelimiter.ErrNotAsked.Error()) {
			t.Errorf("error is %s, want that of the guard", got)
		}
	}
	if got := server.scripts(); len(got) != 0 {
		t.Errorf("asked %v", got)
	}
}

// To get no connection is a failure of the round trip, also where the driver tells
// no command of it: a guard that heard of none would go on asking.
func TestConnectionErrorCountsAsFailure(t *testing.T) {
	hanging := redistest.New(t)
	hanging.Hang(t)
	t.Cleanup(func() { hanging.Resume(t) })
	for name, addr := range map[string]string{"no server": filepath.Join(t.TempDir(), "absent"), "no answer": hanging.Addr()} {
		t.Run(name, func(t *testing.T) {
			options, err := Options{Addr: addr, PoolSize: 1}.Config()
			must.Succeed(t, err)
			options.ReadTimeout = 10 * time.Millisecond // of a handshake without an answer
			client, y := redis.NewClient(options), tally{}
			must.Close(t, client)
			for _, got := range together(newScript(client, seed, nil, y.ask), "a", "b") {
				if strings.HasPrefix(got, "bucket script replied") {
					t.Errorf("error is %s, of a reply that was none", got)
				}
			}
			if len(y.outcomes) != 1 || y.outcomes[0] == "<nil>" {
				t.Errorf("questions came to %v, want one that failed", y.outcomes)
			}
		})
	}
}

// Each strategy puts its questions to the guard, and passes on what it says.
func TestEveryStrategyIsGuarded(t *testing.T) {
	for _, strategy := range ratelimiter.Strategies() {
		t.Run(string(strategy), func(t *testing.T) {
			store, y := openStore(t), tally{}
			limiter := newLimiter(t, store, Config{Strategy: strategy, Contract: seed, Now: (&manual{now: epoch}).Now, Guard: y.ask})
			if got, err := limiter.Take(t.Context(), "client"); err != nil || !got.Allowed || len(y.outcomes) == 0 {
				t.Errorf("%+v, %v by %d questions, want a grant by one or more", got, err, len(y.outcomes))
			}
			y = tally{shut: true}
			if got, err := limiter.Take(t.Context(), "client"); !errors.Is(err, ratelimiter.ErrNotAsked) {
				t.Errorf("%+v, %v from a guard that is shut, want ErrNotAsked", got, err)
			}
		})
	}
}
