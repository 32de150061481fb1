package rungs_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/rungs"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func span(d time.Duration) *metav1.Duration { return &metav1.Duration{Duration: d} }

func decimal(v intstr.IntOrString) *v1beta1.Decimal { return (*v1beta1.Decimal)(&v) }

func TestSameLoad(t *testing.T) {
	five, text := decimal(intstr.FromInt32(5)), decimal(intstr.FromString("5"))
	million, ms := decimal(intstr.FromInt32(1_000_000)), decimal(intstr.FromString("1000000"))
	for name, tc := range map[string]struct {
		a, b v1beta1.StepLoad
		want bool
	}{
		"users":              {v1beta1.StepLoad{Users: 5}, v1beta1.StepLoad{Users: 5}, true},
		"other users":        {v1beta1.StepLoad{Users: 5}, v1beta1.StepLoad{Users: 6}, false},
		"quotes":             {v1beta1.StepLoad{Rate: five}, v1beta1.StepLoad{Rate: text}, true},
		"quotes of a large":  {v1beta1.StepLoad{Rate: million}, v1beta1.StepLoad{Rate: ms}, true},
		"a ramp":             {v1beta1.StepLoad{Rate: five}, v1beta1.StepLoad{Rate: five, RampTo: million}, false},
		"a duration":         {v1beta1.StepLoad{Users: 5, Duration: span(time.Second)}, v1beta1.StepLoad{Users: 5, Duration: span(time.Minute)}, false},
		"the same duration":  {v1beta1.StepLoad{Users: 5, Duration: span(time.Minute)}, v1beta1.StepLoad{Users: 5, Duration: span(60 * time.Second)}, true},
		"a warm-up":          {v1beta1.StepLoad{Users: 5}, v1beta1.StepLoad{Users: 5, WarmUp: span(time.Second)}, false},
		"the limit of burst": {v1beta1.StepLoad{RequestsPerUser: 2, MaxDuration: span(time.Second)}, v1beta1.StepLoad{RequestsPerUser: 2, MaxDuration: span(time.Minute)}, true},
		"arrivals":           {v1beta1.StepLoad{Rate: five, Arrivals: v1beta1.ArrivalsEven}, v1beta1.StepLoad{Rate: five, Arrivals: v1beta1.ArrivalsPoisson}, false},
	} {
		same.As(t, name, tc.want, rungs.SameLoad(&tc.a, &tc.b))
	}
}

func TestRungs(t *testing.T) {
	step := func(name string, rung, repetition int32, users int32) v1beta1.StepStatus {
		return v1beta1.StepStatus{Name: name, Rung: rung, Repetition: repetition, Load: v1beta1.StepLoad{Users: users}}
	}
	rest := v1beta1.StepStatus{Name: "rest", Rung: 2, Load: v1beta1.StepLoad{Pause: span(time.Second)}}
	steps := []v1beta1.StepStatus{step("10", 1, 1, 10), rest, step("100", 3, 1, 100), rest, step("10 (2)", 1, 2, 10), rest, step("100 (2)", 3, 2, 100)}
	all := rungs.Of(steps)
	if len(all) != 2 || all[0].Name != "10" || all[1].Name != "100" || len(all[1].Steps) != 2 || all[1].Steps[1].Name != "100 (2)" {
		t.Fatalf("rungs %+v", all)
	}
	other := rungs.Rung{Number: 7, Name: "100", Load: v1beta1.StepLoad{Users: 100}}
	if got := rungs.Find(all, &other); got == nil || got.Number != 3 {
		t.Errorf("found %+v", got)
	}
	other.Load.Users = 99
	if got := rungs.Find(all, &other); got != nil {
		t.Errorf("found %+v, of another load", got)
	}
	other = rungs.Rung{Name: "a hundred", Load: v1beta1.StepLoad{Users: 100}}
	if got := rungs.Find(all, &other); got != nil {
		t.Errorf("found %+v, of another name", got)
	}
}

// In a later repetition, and for the control, a step is called by its rung.
func TestStepHasTheNameOfThePlan(t *testing.T) {
	load, pause := v1beta1.StepLoad{Users: 1}, v1beta1.StepLoad{Pause: &metav1.Duration{}}
	steps := []v1beta1.StepStatus{
		{Name: "peak on v3", Rung: 1, Side: v1beta1.SideControl, Load: load}, {Name: "rest", Rung: 1, Load: pause}, {Name: "peak", Rung: 1, Side: v1beta1.SideCandidate, Load: load},
		{Name: "peak (2)", Rung: 1, Side: v1beta1.SideCandidate, Load: load}, {Name: "peak on v3 (2)", Rung: 1, Side: v1beta1.SideControl, Load: load},
	}
	for i, want := range []string{"peak", "rest", "peak", "peak", "peak"} {
		same.As(t, steps[i].Name+" is called", want, rungs.NameOf(steps, &steps[i]))
	}
	if got := rungs.NameOf(nil, &steps[0]); got != "peak on v3" {
		t.Errorf("alone, it is called %s", got)
	}
}
