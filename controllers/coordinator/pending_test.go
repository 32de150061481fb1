package coordinator

import (
	"testing"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func TestUpdateReturnsWhatWasNotSent(t *testing.T) {
	plan := assignments("a", 2)
	start := &exchange.Start{Step: 2, At: noon}
	all := sentState{assigned: true, steps: 3, start: *start, stopped: 2, acknowledged: 2}
	for name, test := range map[string]struct {
		sent sentState
		d    exchange.Directive
		want []string
	}{
		"a new run":                            {nothingSent, exchange.Directive{Assignments: plan}, []string{"assignment 1/2"}},
		"a new session in a step":              {nothingSent, exchange.Directive{Assignments: plan, Start: start, Acknowledged: 2}, []string{"assignment 1/2", "acknowledge before 2", "start 2 at 12:00:00"}},
		"a new session in a stop":              {nothingSent, exchange.Directive{Assignments: plan, Start: start, Stop: true}, []string{"assignment 1/2", "start 2 at 12:00:00", "stop 2"}},
		"a new session after the step":         {nothingSent, exchange.Directive{Assignments: plan, Start: start, Stop: true, Acknowledged: 3}, []string{"assignment 1/2", "acknowledge before 3"}},
		"a new session of a run that ended":    {nothingSent, exchange.Directive{Assignments: plan, Start: start, Acknowledged: 3, Finish: true}, []string{"acknowledge before 3", "finish"}},
		"nothing new":                          {all, exchange.Directive{Assignments: plan, Start: start, Stop: true, Acknowledged: 2}, nil},
		"no stop without a step":               {sentState{assigned: true, steps: 3}, exchange.Directive{Assignments: plan, Stop: true}, nil},
		"the next step":                        {all, exchange.Directive{Assignments: plan, Start: &exchange.Start{Step: 3, At: noon}, Acknowledged: 3}, []string{"acknowledge before 3", "start 3 at 12:00:00"}},
		"steps that a search added":            {sentState{assigned: true, steps: 1}, exchange.Directive{Assignments: plan, Start: start, Acknowledged: 1}, []string{"acknowledge before 1", "add 2 steps from 2", "start 2 at 12:00:00"}},
		"an acknowledgement is not taken back": {all, exchange.Directive{Assignments: plan, Start: start, Stop: true, Acknowledged: 1}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			state := test.sent
			var got []string
			for _, m := range state.update(&test.d, 1) {
				got = append(got, describe(m))
			}
			same.As(t, "update", test.want, got)
			if again := state.update(&test.d, 1); len(again) != 0 {
				t.Errorf("sent again: %v", again)
			}
		})
	}
}

func TestNothingIsPendingWithoutADirectedRun(t *testing.T) {
	c, _, _ := newIdleCoordinator()
	alone, waiting, over := sessionOf("a", 0), sessionOf("a", 0), sessionOf("b", 0)
	must.Succeed(t, c.attach(waiting))
	c.Direct("b", running("b", 1, 0))
	must.Succeed(t, c.attach(over))
	c.detach(over)
	for name, s := range map[string]*session{"not attached": alone, "of a run that waits": waiting, "that is over": over} {
		if messages, finished := c.pending(s); len(messages) > 0 || finished {
			t.Errorf("a session %s has pending %v, finished %t", name, messages, finished)
		}
	}
	(*session)(nil).wakeSender() // of a worker that is not connected
}

// A session is sent where connections may go to with its assignment, and of each change.
func TestChangedDestinationsAreSentOnce(t *testing.T) {
	directive := func(to ...*workerv1.Destination) *exchange.Directive {
		d := &exchange.Directive{Assignments: assignments("a", 2)}
		target := &workerv1.Target{Destinations: &workerv1.Destinations{Allowed: to}}
		for _, a := range d.Assignments {
			a.Target = target
		}
		return d
	}
	first, second := directive(&workerv1.Destination{}), directive(&workerv1.Destination{}, &workerv1.Destination{Port: 1})
	state := nothingSent
	for _, test := range []struct {
		d    *exchange.Directive
		want []string
	}{
		{first, []string{"assignment 1/2"}},
		{first, nil},
		{second, []string{"redirect to 2 destinations"}},
		{second, nil},
		{&exchange.Directive{Assignments: second.Assignments, Finish: true}, []string{"finish"}},
	} {
		var got []string
		for _, m := range state.update(test.d, 1) {
			got = append(got, describe(m))
		}
		same.As(t, "update", test.want, got)
	}
}
