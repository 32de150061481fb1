package coordinator

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc/metadata"
	clocktesting "k8s.io/utils/clock/testing"
)

// slow is an authenticator that waits for the test before it answers.
type slow struct {
	entered chan struct{}
	answer  chan struct{}
	now     atomic.Int32
	most    atomic.Int32
}

func (s *slow) Authenticate(ctx context.Context, token string) (Identity, error) {
	now := s.now.Add(1)
	defer s.now.Add(-1)
	for most := s.most.Load(); now > most && !s.most.CompareAndSwap(most, now); most = s.most.Load() {
	}
	s.entered <- struct{}{}
	select {
	case <-s.answer:
		return Identity{Run: RunID(token)}, nil
	case <-ctx.Done():
		return Identity{}, ctx.Err()
	}
}

func TestVerificationsAreBounded(t *testing.T) {
	const callers = 5 * maxVerifying
	auth := &slow{entered: make(chan struct{}, callers), answer: make(chan struct{})}
	c := New(auth, clocktesting.NewFakeClock(noon), func(RunID) {}, prometheus.NewRegistry())
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	var group sync.WaitGroup
	var verified atomic.Int32
	for range callers {
		group.Go(func() {
			if id, err := c.verify(ctx, "a"); err == nil && id.Run == "a" {
				verified.Add(1)
			}
		})
	}
	for range maxVerifying {
		<-auth.entered
	}
	// There is no room: a caller that cannot wait gets an error.
	impatient, give := context.WithCancel(ctx)
	give()
	if _, err := c.verify(impatient, "a"); !errors.Is(err, context.Canceled) || errors.Is(err, ErrUnauthenticated) {
		t.Errorf("without room: %v, want an error that may pass", err)
	}
	close(auth.answer)
	group.Wait()
	if verified.Load() != callers || auth.most.Load() != maxVerifying {
		t.Errorf("%d of %d verified, %d at once; want all, %d at once", verified.Load(), callers, auth.most.Load(), maxVerifying)
	}
}

func TestBearerToken(t *testing.T) {
	for name, tc := range map[string]struct {
		values []string
		want   string
	}{
		"a token":        {[]string{"Bearer abc"}, "abc"},
		"none":           {nil, ""},
		"two":            {[]string{"Bearer abc", "Bearer abc"}, ""},
		"another scheme": {[]string{"Basic abc"}, ""},
		"a scheme alone": {[]string{"Bearer "}, ""},
		"no scheme":      {[]string{"abc"}, ""},
	} {
		ctx := metadata.NewIncomingContext(t.Context(), metadata.MD{"authorization": tc.values})
		if got, ok := bearerToken(ctx); ok != (tc.want != "") || ok && got != tc.want {
			t.Errorf("%s: got %q, %t, want %q", name, got, ok, tc.want)
		}
	}
	if _, ok := bearerToken(t.Context()); ok {
		t.Error("there is a token without metadata")
	}
}

// One that takes too long makes room for others.
func TestCanceledVerificationFreesItsPlace(t *testing.T) {
	auth := &slow{entered: make(chan struct{}, 2*maxVerifying), answer: make(chan struct{})}
	c := New(auth, clocktesting.NewFakeClock(noon), func(RunID) {}, prometheus.NewRegistry())
	ctx, cancel := context.WithCancel(t.Context())
	var group sync.WaitGroup
	for range maxVerifying {
		group.Go(func() { _, _ = c.verify(ctx, "a") })
	}
	for range maxVerifying {
		<-auth.entered
	}
	cancel()
	group.Wait()
	close(auth.answer)
	if _, err := c.verify(t.Context(), "b"); err != nil {
		t.Errorf("after the others ended: %v", err)
	}
}
