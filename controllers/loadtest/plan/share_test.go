package plan_test

import (
	"fmt"
	"testing"
	"testing/quick"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// The requests that are planned for the workers are those of the step, whatever its
// load and however many workers share it.
func TestRequestsOfTheWorkersAddUp(t *testing.T) {
	property := func(users, each uint8, rate uint16, millis uint16, warmUp uint16, workers uint8) bool {
		u, e := int32(users%50)+1, int32(each%9)+1
		perSecond := v1beta1.NewDecimal(fmt.Sprintf("%d.%03d", rate/1000, rate%1000+1))
		length, before := duration(time.Duration(millis)*time.Millisecond+time.Second), duration(time.Duration(warmUp)*time.Millisecond)
		for _, step := range plan.Steps(withSteps(
			v1beta1.Step{Name: "steady", Users: &u, RatePerUser: &perSecond, Duration: length, WarmUp: before},
			v1beta1.Step{Name: "steady (2)", Users: &u, RequestsPerUser: &e},
			v1beta1.Step{Name: "steady (3)", Rate: &perSecond, Duration: length, WarmUp: before},
			v1beta1.Step{Name: "steady (4)", Rate: &perSecond, RampTo: decimal("70"), Duration: length},
			v1beta1.Step{Name: "steady (5)", Users: &u, RampTo: decimal("37"), RatePerUser: &perSecond, Duration: length, WarmUp: before},
		)) {
			sum, n := int64(0), int32(workers%20)+1
			for w := range n {
				requests, known := plan.Requests(&step.Load, w, n)
				if known != (step.Load.Requests > 0) || requests < 0 {
					return false
				}
				sum += requests
			}
			if sum != step.Load.Requests {
				return false
			}
		}
		return true
	}
	if err := quick.Check(property, nil); err != nil {
		t.Error(err)
	}
}

// Users who take turns go on where the warm-up ended: one request in 2 s, of which the
// first is due in a warm-up of 1 s, and the second after a window of 1 s.
func TestWarmUpTakesUsersTurns(t *testing.T) {
	one := int32(1)
	step := v1beta1.Step{Users: &one, RatePerUser: decimal("0.5"), Duration: duration(time.Second), WarmUp: duration(time.Second)}
	same.As(t, "requests that are planned", 0, plan.Steps(withSteps(step))[0].Load.Requests)
	step.Duration = duration(time.Second + 1)
	same.As(t, "requests that are planned", 1, plan.Steps(withSteps(step))[0].Load.Requests)
}

// The bounds of the API are within what is planned: a single user, and 10^9 requests per
// second; in a ramp, a million users, and a request in a million seconds.
func TestRequestsOfTheSmallestAndTheLargestLoadAreKnown(t *testing.T) {
	one, most := int32(1), int32(1_000_000)
	steps := plan.Steps(withSteps(
		v1beta1.Step{Name: "steady", Users: &one, RatePerUser: decimal("3"), Duration: duration(time.Second)},
		v1beta1.Step{Name: "steady (2)", Users: &most, RatePerUser: decimal("1000"), Duration: duration(time.Second)},
		v1beta1.Step{Name: "steady (3)", Users: &most, RampTo: decimal("1000000"), RatePerUser: decimal("1"), Duration: duration(time.Second)},
		v1beta1.Step{Name: "4 to 4 users", Users: ptr(int32(4)), RampTo: decimal("4"), RatePerUser: decimal("0.000001"), Duration: duration(1_000_000 * time.Second)},
	))
	for i, want := range []int64{3, 500_000_000, 500_000, 2} {
		if n, known := plan.Requests(&steps[i].Load, 0, 2); n != want || !known {
			t.Errorf("step %s: %d requests of %d are planned for the first of two workers, known: %v; want %d", steps[i].Name, n, steps[i].Load.Requests, known, want)
		}
	}
}

// A number that is not planned is not known; and a status that no operator wrote may have a
// number of requests and nothing that sends them.
func TestRequestsThatAreNotPlannedOrCannotBeAreNotKnown(t *testing.T) {
	most := v1beta1.NewDecimal("999999999")
	for name, load := range map[string]v1beta1.StepLoad{
		"users without a rate":  {Users: 2, Duration: duration(time.Second)},
		"random arrivals":       {Rate: decimal("5"), Arrivals: v1beta1.ArrivalsPoisson, Duration: duration(time.Second)},
		"no users":              {Requests: 5},
		"no users, and a rate":  {Requests: 5, RatePerUser: &most, Duration: duration(time.Second)},
		"a ramp without a rate": {Requests: 5, Users: 2, RampTo: decimal("4"), Duration: duration(time.Second)},
		"an absurd ramp":        {Requests: 5, Users: 2, RampTo: decimal("999999999"), RatePerUser: decimal("0.000001"), Duration: duration(time.Second)},
		"a ramp from no user":   {Requests: 5, RampTo: decimal("4"), RatePerUser: decimal("1"), Duration: duration(time.Second)},
		"an absurd rate":        {Requests: 5, Users: 1_000_000, RatePerUser: &most, Duration: duration(time.Hour), WarmUp: duration(time.Hour)},
	} {
		if n, known := plan.Requests(&load, 0, 2); known {
			t.Errorf("%s: %d requests are planned, want none", name, n)
		}
	}
}
