package attack

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// cameTo are the instants at which requests for a path came, in their order.
func (o *oracle) cameTo(path string) (at []time.Time) {
	for _, a := range o.arrivals() {
		if a.path == path {
			at = append(at, a.at)
		}
	}
	return at
}

// A session has nothing of the one that had its connection before: no cookie, no captured value.
func TestSessionsHaveARowEachAndNothingOfAnother(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, d testDriver) {
		m := newMarket()
		s := drive(t, d.runner(t, buying(t, d.oracle(t, slow(m.ServeHTTP)).URL, 100)), arrivalsStep(20e6, 5*time.Second))
		m.check(t)
		if len(m.bought) != 100 || s.Journeys[0].Completed != 100 {
			t.Errorf("%d accounts have bought, %d sessions are completed; want 100", len(m.bought), s.Journeys[0].Completed)
		}
	})
}

// More sessions than connections: what finds none is unsent, of its own journey, and by the generator.
func TestSessionsWithoutAConnectionAreUnsent(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, d testDriver) {
		m := newMarket()
		c := buying(t, d.oracle(t, slow(m.ServeHTTP)).URL, 10)
		c.maxConns, c.journeys[0].Steps = 10, slices.Insert(c.journeys[0].Steps, 1, source.JourneyStep{Think: fixed(time.Hour)})
		x := d.runner(t, c).Start(arrivalsStep(50e6, 2*time.Second), time.Now())
		s := finish(t, x)
		want := measure.Sessions{Due: 100, Started: 10}
		if j := &s.Journeys[0]; s.Sessions != want || j.Due != 100 || j.Started != 10 || j.Unfinished.Count() != 10 {
			t.Errorf("sessions are %+v, of the journey %d due, %d started, %d under way", s.Sessions, j.Due, j.Started, j.Unfinished.Count())
		}
		if s.Unsent != 90 || s.UnsentByGenerator != 90 || m.hits["/login"] != 10 {
			t.Errorf("%d unsent, %d by the generator, the target had %d", s.Unsent, s.UnsentByGenerator, m.hits["/login"])
		}
		if p := x.Series(s.Due).Points; p[0].Due != 50 || p[0].Sent != 10 || p[1].Due != 50 {
			t.Errorf("%d and %d are due in each second, and %d sent in the first; want 50, 50, 10", p[0].Due, p[1].Due, p[0].Sent)
		}
	})
}

// A target that is silent holds each session for its timeout: these fail, and the others begin on time.
func TestSessionsOfATargetThatIsSilent(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, d testDriver) {
		handle, _ := hold(t)
		o := d.oracle(t, handle)
		c := buying(t, o.URL, 10)
		c.timeout = 500 * ms
		s := drive(t, d.runner(t, c), arrivalsStep(50e6, 2*time.Second))
		wantJourney(t, s, 100, 0, 100)
		if got := fmt.Sprint(sent(s)); got != "[100 0 0 0]" || s.Requests[0].Outcomes[measure.Timeout] != 100 || s.UnsentByGenerator != 0 {
			t.Errorf("sent %s, %d timeouts, %d unsent by the generator", got, s.Requests[0].Outcomes[measure.Timeout], s.UnsentByGenerator)
		}
	})
}

// A step that is cut leaves its sessions under way, and counts those that were due until then.
func TestSessionsOfAStepThatIsCut(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, d testDriver) {
		m := newMarket()
		c := buying(t, d.oracle(t, slow(m.ServeHTTP)).URL, 10)
		c.journeys[0].Steps = slices.Insert(c.journeys[0].Steps, 1, source.JourneyStep{Think: fixed(time.Hour)})
		x := d.runner(t, c).Start(arrivalsStep(50e6, time.Minute), time.Now())
		defer time.AfterFunc(time.Second+ms, x.Cut).Stop()
		s := finish(t, x)
		if want := (measure.Sessions{Due: 51, Started: 51}); s.Sessions != want || s.Unsent != 0 {
			t.Errorf("sessions are %+v, want %+v; %d unsent", s.Sessions, want, s.Unsent)
		}
		wantJourney(t, s, 51, 0, 0)
	})
}

// While a step runs, what is due is what its rate says so far.
func TestSessionsOfARunningStep(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, d testDriver) {
		m := newMarket()
		c := buying(t, d.oracle(t, slow(m.ServeHTTP)).URL, 10)
		x := d.runner(t, c).Start(arrivalsStep(50e6, 2*time.Second), time.Now())
		<-time.After(time.Second + ms)
		s := snapshot(t, x)
		if want := (measure.Sessions{Due: 51, Started: 51}); s.Sessions != want || s.Journeys[0].Due != 51 || s.Journeys[0].UnderWay() != 1 {
			t.Errorf("sessions are %+v, want %+v; %d of the journey due, %d under way", s.Sessions, want, s.Journeys[0].Due, s.Journeys[0].UnderWay())
		}
		if !strings.HasPrefix(fmt.Sprint(sent(s)), "[51 100 50") {
			t.Errorf("sent %v", sent(s))
		}
		finish(t, x)
	})
}
