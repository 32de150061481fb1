package tokens

import (
	"context"
	"errors"
	"math"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// moments are when each token was there, after a start.
func moments(t *testing.T, g *Generation, start time.Time, tokens int) (at []time.Duration) {
	t.Helper()
	for len(at) < tokens {
		n, err := g.Next(t.Context())
		must.Succeed(t, err)
		for len(at) < n {
			at = append(at, time.Since(start))
		}
	}
	g.Close()
	return at
}

func newService(t *testing.T, p Parameters) *Service {
	t.Helper()
	s, err := NewService(p)
	must.Succeed(t, err)
	return s
}

func TestTokensComeAtTheEndsOfSteps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, start := newService(t, small), time.Now()
		a, err := s.Submit(20, 3)
		must.Succeed(t, err)
		time.AfterFunc(40*time.Millisecond, func() { // in the second step, from 33 to 46
			b, err := s.Submit(4, 2)
			if err != nil {
				t.Error(err)
				return
			}
			ms := time.Millisecond
			// The third step has both: 4 of prompt, 10 and 6. The fourth has b alone.
			same.As(t, "moments of b", []time.Duration{66 * ms, 79 * ms}, moments(t, b, start, 2))
		})
		ms := time.Millisecond
		same.As(t, "moments of a", []time.Duration{33 * ms, 46 * ms, 66 * ms}, moments(t, a, start, 3))
		<-time.After(time.Second)
		want := Counts{Accepted: 2, Finished: 2, PromptTokens: 24, Tokens: 5}
		same.As(t, "counts", want, s.Counts())
		// After a rest, a step begins at once.
		c, err := s.Submit(0, 1)
		must.Succeed(t, err)
		same.As(t, "moments of c", []time.Duration{13 * ms}, moments(t, c, time.Now(), 1))
	})
}

// A client that reads late misses no token; one that goes away makes room at once.
func TestClientsDoNotHoldUpEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(t, small)
		slow, err := s.Submit(0, 50)
		must.Succeed(t, err)
		gone, err := s.Submit(0, 50)
		must.Succeed(t, err)
		_, err = s.Submit(0, 50)
		must.Succeed(t, err)
		if _, err := s.Submit(0, 1); !errors.Is(err, ErrFull) {
			t.Errorf("a fourth request: %v", err)
		}
		ctx, leave := context.WithCancelCause(t.Context())
		time.AfterFunc(100*time.Millisecond, func() { leave(errors.New("the client is gone")) })
		for err = nil; err == nil; {
			_, err = gone.Next(ctx)
		}
		if err.Error() != "the client is gone" {
			t.Errorf("Next = %v", err)
		}
		gone.Close()
		gone.Close()
		if _, err := s.Submit(0, 1); err != nil {
			t.Errorf("in its place: %v", err)
		}
		<-time.After(time.Hour)
		if n, err := slow.Next(t.Context()); n != 50 || err != nil {
			t.Errorf("the slow client has %d tokens, %v; want 50", n, err)
		}
		if n, err := slow.Next(t.Context()); n != 50 || err != nil {
			t.Errorf("asked again, it has %d tokens, %v; want 50", n, err)
		}
		got := s.Counts()
		if got.Refused != 1 || got.Accepted != 4 || got.Finished != 3 || got.Abandoned != 1 || got.Running+got.Waiting != 0 {
			t.Errorf("counts %+v", got)
		}
		if _, err := s.Submit(-1, 0); err == nil {
			t.Error("a request for no token is accepted")
		}
	})
}

// Below its capacity a server refuses nothing. Above, it answers at its capacity, and
// refuses the rest.
func TestRequestsAboveTheCapacityAreRefused(t *testing.T) {
	const prompt, tokens, length = 20, 16, 10 * time.Minute
	for name, share := range map[string]float64{"below": .9, "above": 1.5} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := Default()
				s, capacity := newService(t, p), p.Capacity(prompt, tokens)
				every := time.Duration(float64(time.Second) / (share * capacity))
				var clients sync.WaitGroup
				sent := uint64(0)
				for start := time.Now(); time.Since(start) < length; <-time.After(every) {
					sent++
					if g, err := s.Submit(prompt, tokens); err == nil {
						clients.Go(func() { moments(t, g, start, tokens) })
					}
				}
				got := s.Counts()
				clients.Wait()
				if share < 1 && got.Refused != 0 {
					t.Errorf("%d of %d are refused below the capacity", got.Refused, sent)
				}
				if rate := float64(got.Finished) / length.Seconds(); share > 1 && math.Abs(rate/capacity-1) > .01 {
					t.Errorf("%v a second are answered, want %v", rate, capacity)
				}
				if got.Refused+got.Accepted != sent || got.Accepted != got.Finished+uint64(got.Running+got.Waiting) {
					t.Errorf("counts %+v of %d requests", got, sent)
				}
			})
		})
	}
}
