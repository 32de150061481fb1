package patience

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// timers fire at once, or never, and remember what they were asked for.
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
		lost   bool
		want   bool
	}{
		"with the answer":           {ctx: context.Background(), answer: answered, want: true},
		"with the caller's context": {ctx: over, answer: silence},
		"with patience":             {ctx: context.Background(), answer: silence, fire: true, lost: true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			f := &timers{fire: tt.fire}
			p := New(time.Second, f.after)
			if got := p.Wait(tt.ctx, tt.answer); got != tt.want {
				t.Errorf("answered: %v, want %v", got, tt.want)
			}
			if diff := cmp.Diff([]time.Duration{time.Second}, f.asked); diff != "" {
				t.Errorf("bounds (-want +got):\n%s", diff)
			}
			if _, got := p.state(); got != tt.lost {
				t.Errorf("patience is lost: %v, want %v", got, tt.lost)
			}
		})
	}
}

// One caller waits in vain, those after it do not, until there is an answer.
func TestOneWaitsForAll(t *testing.T) {
	f := &timers{fire: true}
	p := New(time.Second, f.after)
	for range 10 {
		p.Wait(t.Context(), silence)
	}
	if len(f.asked) != 1 {
		t.Errorf("%d of 10 callers waited for a silent service, want 1", len(f.asked))
	}
	if !p.Regain() || p.Regain() {
		t.Error("that the service answers again is news once")
	}
	p.Wait(t.Context(), silence)
	if len(f.asked) != 2 {
		t.Errorf("after an answer %d callers waited, want 1", len(f.asked)-1)
	}
	p.Regain()
	if !p.Lose() || p.Lose() {
		t.Error("that the service is silent is news once")
	}
	p.Wait(t.Context(), silence)
	if len(f.asked) != 2 {
		t.Error("a caller waited for a service that was said to be silent")
	}
}

// A process that was stopped for longer than the bound finds an answer and the
// end of its patience at once, which is no outage.
func TestAnAnswerThatIsThereIsNoOutage(t *testing.T) {
	p := New(time.Second, (&timers{fire: true}).after)
	for range 100 { // of which half would go wrong
		if !p.Wait(t.Context(), answered) {
			t.Fatal("an answer that is there was not seen")
		}
		if _, lost := p.state(); lost {
			t.Fatal("patience was lost with a service that answers")
		}
	}
}

func TestNoPatience(t *testing.T) {
	f := &timers{}
	if New(0, f.after).Wait(t.Context(), silence) || len(f.asked) != 0 {
		t.Error("waited without patience")
	}
}

// Those who wait already are told as well; with this clock they would wait for
// ever.
func TestLoseEndsTheWaitOfAll(t *testing.T) {
	asked := make(chan time.Duration)
	p := New(time.Second, func(d time.Duration) <-chan time.Time {
		asked <- d
		return nil
	})
	const callers = 3
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() { p.Wait(context.Background(), silence) })
	}
	for range callers {
		<-asked
	}
	p.Lose()
	wg.Wait()
}
