package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func TestGateOpensAfterASuccess(t *testing.T) {
	refused := errors.New("refused")
	var (
		now   time.Time
		dials int
		next  error
	)
	g := &gate{now: func() time.Time { return now }, dial: func(context.Context, string, string) (net.Conn, error) {
		dials++
		return nil, next
	}}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, step := range []struct {
		name string
		ctx  context.Context
		pass time.Duration
		next error
		want string
		dial int
	}{
		{"it answers", t.Context(), 0, nil, "<nil>", 1},
		{"a request that was given up says nothing", ended, 0, context.Canceled, "context canceled", 1},
		{"it refuses", t.Context(), 0, refused, "refused", 1},
		{"and is left alone", t.Context(), closedFor - 1, nil, "dialled a moment ago: refused", 0},
		{"for a moment", t.Context(), 1, refused, "refused", 1},
		{"each time", t.Context(), closedFor - 1, nil, "dialled a moment ago: refused", 0},
		{"until it answers", t.Context(), 1, nil, "<nil>", 1},
		{"and is dialled at will", t.Context(), 0, nil, "<nil>", 1},
	} {
		now, next, dials = now.Add(step.pass), step.next, 0
		_, err := g.dialContext(step.ctx, "tcp", "host:5432")
		same.As(t, step.name+": error", step.want, fmt.Sprint(err))
		if dials != step.dial {
			t.Errorf("%s: dialled %d times, want %d", step.name, dials, step.dial)
		}
	}
}

// A dial that fails after another has succeeded meanwhile closes nothing.
func TestGateIgnoresFailureAfterNewerSuccess(t *testing.T) {
	refused := errors.New("refused")
	now := time.Time{}.Add(time.Hour)
	var dial dialFunc
	g := &gate{
		now:  func() time.Time { return now },
		dial: func(ctx context.Context, network, addr string) (net.Conn, error) { return dial(ctx, network, addr) },
	}
	answers := func(context.Context, string, string) (net.Conn, error) { return nil, nil }
	dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
		now, dial = now.Add(time.Second), answers // another comes in between
		if _, err := g.dialContext(ctx, network, addr); err != nil {
			t.Errorf("the dial in between = %v", err)
		}
		return nil, refused
	}
	if _, err := g.dialContext(t.Context(), "tcp", "host:5432"); !errors.Is(err, refused) {
		t.Errorf("error = %v, want %v", err, refused)
	}
	if _, err := g.dialContext(t.Context(), "tcp", "host:5432"); err != nil {
		t.Errorf("the next dial = %v", err)
	}
}
