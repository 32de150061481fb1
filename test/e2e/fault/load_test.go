package fault

import (
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func TestPlannedIsWhatTheOperatorPlans(t *testing.T) {
	loads := map[string]Load{}
	for _, i := range Instants() {
		loads[i.Name] = i.Load
	}
	for name, l := range loads {
		t.Run(name, func(t *testing.T) {
			spec := l.Spec("run", "counter")
			var due int64
			for _, s := range plan.Steps(&spec) {
				due += s.Load.Requests
			}
			if got := l.Planned(); got != due || got == 0 {
				t.Errorf("planned are %d, the operator plans %d", got, due)
			}
		})
	}
}

func TestSpec(t *testing.T) {
	spec := Load{Workers: 2, Delay: slow, Steps: []Step{slowUsers(second), {Length: time.Second}}}.Spec("run", "counter")
	same.As(t, "path", "/run?delay=3s", spec.Requests[0].HTTP.Path)
	if spec.Steps[0].Users == nil || spec.Steps[0].RatePerUser.String() != "0.25" || spec.Steps[0].Pause != nil {
		t.Errorf("the first step is %+v", spec.Steps[0])
	}
	if spec.Steps[1].Users != nil || spec.Steps[1].Pause.Duration != time.Second {
		t.Errorf("the second step is %+v, want a pause", spec.Steps[1])
	}
	if *spec.Parallelism != 2 || spec.Target.Service.Name != "counter" {
		t.Errorf("the spec is %+v", spec)
	}
}

// No user may still wait for an answer when its next request is due.
func TestUsersOfASlowTargetAreFreeInTime(t *testing.T) {
	for _, i := range Instants() {
		for _, s := range i.Load.Steps {
			if s.Users > 0 && s.Every < i.Load.Delay+time.Second/2 {
				t.Errorf("%s: a user sends every %s and waits %s", i.Name, s.Every, i.Load.Delay)
			}
		}
	}
}

// A held run must be in the step after its first one when the fault comes.
func TestInstantsAreHit(t *testing.T) {
	got := map[string]string{}
	for _, i := range Instants() {
		if !i.IsHeld() || i.Released > 0 {
			continue
		}
		since := -i.Released - Lead
		for n, s := range i.Load.Steps[1:] {
			if since < s.Length+i.Load.Delay || n == len(i.Load.Steps)-2 {
				got[i.Name] = At(running(n+1, i.Load.Spec("run", "counter"), since), now)
				break
			}
			since -= s.Length
		}
	}
	want := map[string]string{
		"the gate":             "step 2, in 0.4s",
		"the middle of a step": "step 2, 4.0s of 8s",
		"the end of a step":    "step 2, 7.6s of 8s",
		"the drain":            "step 2, 9.5s of 8s",
		"a pause":              "pause, 4.0s of 8s",
		"cut":                  "step 2, 4.0s of 8s",
		"finishing":            "step 2, 4.5s of 4s",
	}
	same.As(t, "the instants", want, got)
}

func TestPrologueIsTheLongestLead(t *testing.T) {
	all := Instants()
	longest := Prologue(all)
	for _, i := range all {
		if -i.Created > longest || -i.Released > longest || -i.Terminated > longest {
			t.Errorf("%s begins before the prologue of %s", i.Name, longest)
		}
	}
	if longest > 15*time.Second {
		t.Errorf("the prologue takes %s", longest)
	}
}
