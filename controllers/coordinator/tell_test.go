package coordinator

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestToldUpdate(t *testing.T) {
	plan := assignments("a", 2)
	start := &Start{Step: 2, At: noon}
	all := told{assigned: true, start: *start, stopped: 2, acknowledged: 2}
	for name, test := range map[string]struct {
		told told
		d    Directive
		want []string
	}{
		"a new run":                            {nothingTold, Directive{Assignments: plan}, []string{"assignment 1/2"}},
		"a new session in a step":              {nothingTold, Directive{Assignments: plan, Start: start, Acknowledged: 2}, []string{"assignment 1/2", "acknowledge before 2", "start 2 at 12:00:00"}},
		"a new session in a stop":              {nothingTold, Directive{Assignments: plan, Start: start, Stop: true}, []string{"assignment 1/2", "start 2 at 12:00:00", "stop 2"}},
		"a new session after the step":         {nothingTold, Directive{Assignments: plan, Start: start, Stop: true, Acknowledged: 3}, []string{"assignment 1/2", "acknowledge before 3"}},
		"a new session of a run that ended":    {nothingTold, Directive{Assignments: plan, Start: start, Acknowledged: 3, Finish: true}, []string{"acknowledge before 3", "finish"}},
		"nothing new":                          {all, Directive{Assignments: plan, Start: start, Stop: true, Acknowledged: 2}, nil},
		"no stop without a step":               {told{assigned: true}, Directive{Assignments: plan, Stop: true}, nil},
		"the next step":                        {all, Directive{Assignments: plan, Start: &Start{Step: 3, At: noon}, Acknowledged: 3}, []string{"acknowledge before 3", "start 3 at 12:00:00"}},
		"an acknowledgement is not taken back": {all, Directive{Assignments: plan, Start: start, Stop: true, Acknowledged: 1}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			state := test.told
			var got []string
			for _, m := range state.update(&test.d, 1) {
				got = append(got, words(m))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("update (-want +got):\n%s", diff)
			}
			if again := state.update(&test.d, 1); len(again) != 0 {
				t.Errorf("told again: %v", again)
			}
		})
	}
}
