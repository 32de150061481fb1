package outage

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// timers fire at once, or never, and keep what they were asked for.
type timers struct {
	fire  bool
	asked []time.Duration
}

func (f *timers) after(d time.Duration) <-chan time.Time {
	f.asked = append(f.asked, d)
	c := make(chan time.Time, 1)
	if f.fire {
		c <- time.Time{}
	}
	return c
}

var (
	answered = closed()
	silence  = make(chan struct{})
)

func closed() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}

func TestWaitEnds(t *testing.T) {
	over, cancel := context.WithCancel(context.Background())
	cancel()
	tests := map[string]struct {
		ctx    context.Context
		answer <-chan struct{}
		fire   bool
		down   bool
		want   bool
	}{
		"with the answer":           {ctx: context.Background(), answer: answered, want: true},
		"with the caller's context": {ctx: over, answer: silence},
		"with the bound":            {ctx: context.Background(), answer: silence, fire: true, down: true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			f := &timers{fire: tt.fire}
			g := New(time.Second, f.after)
			same.As(t, "answered", tt.want, g.Wait(tt.ctx, tt.answer))
			same.As(t, "bounds", []time.Duration{time.Second}, f.asked)
			if _, got := g.state(); got != tt.down {
				t.Errorf("the service is down: %v, want %v", got, tt.down)
			}
		})
	}
}

// One caller waits for the bound; later ones return at once until the service is
// up again.
func TestOutageIsWaitedForOnce(t *testing.T) {
	f := &timers{fire: true}
	g := New(time.Second, f.after)
	for range 10 {
		g.Wait(t.Context(), silence)
	}
	if len(f.asked) != 1 {
		t.Errorf("%d of 10 callers waited for a silent service, want 1", len(f.asked))
	}
	if !g.Up() || g.Up() {
		t.Error("Up did not report one change")
	}
	g.Wait(t.Context(), silence)
	if len(f.asked) != 2 {
		t.Errorf("after an answer %d callers waited, want 1", len(f.asked)-1)
	}
	g.Up()
	if !g.Down() || g.Down() {
		t.Error("Down did not report one change")
	}
	g.Wait(t.Context(), silence)
	if len(f.asked) != 2 {
		t.Error("a caller waited for a service that was marked as down")
	}
}

// A process that was stopped for longer than the bound finds an answer and the
// end of the bound at once, which is no outage.
func TestLateWakeUpIsNoOutage(t *testing.T) {
	g := New(time.Second, (&timers{fire: true}).after)
	for range 100 { // of which half would go wrong
		if !g.Wait(t.Context(), answered) {
			t.Fatal("an answer that is there was not seen")
		}
		if _, down := g.state(); down {
			t.Fatal("a service that answers was marked as down")
		}
	}
}

func TestZeroLimitDisablesWait(t *testing.T) {
	f := &timers{}
	if New(0, f.after).Wait(t.Context(), silence) || len(f.asked) != 0 {
		t.Error("waited without a bound")
	}
}

// Without Down these callers would never return: the timers do not fire.
func TestDownEndsAllWaits(t *testing.T) {
	asked := make(chan time.Duration)
	g := New(time.Second, func(d time.Duration) <-chan time.Time {
		asked <- d
		return nil
	})
	const callers = 3
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() { g.Wait(context.Background(), silence) })
	}
	for range callers {
		<-asked
	}
	g.Down()
	wg.Wait()
}
