package fault

import (
	"fmt"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
)

// Timeout of each request of the suite.
const Timeout = 5 * time.Second

// Step is a step of a run: users, arrivals, or a pause if there are neither.
type Step struct {
	// Users is how many there are. Each sends one request in every span of length Every, or
	// Each requests one after another, or goes on for Length, with Think after each answer.
	Users int
	Every time.Duration
	Each  int
	Think time.Duration
	// RampTo is how many users with a rate there are at the end. 0: as many.
	RampTo int
	// Rate is how many requests arrive per second, without users: evenly, or by Poisson.
	Rate    int
	Poisson bool
	// Length is how long it takes, and what it would take if it is given by Each.
	Length time.Duration
}

// isPause says whether nothing is sent.
func (s Step) isPause() bool { return s.Users == 0 && s.Rate == 0 }

// planned is how many requests it has; 0 if that depends on the target, on what is drawn, or on
// when in its span each user of a ramp sends.
func (s Step) planned() int64 {
	switch {
	case s.RampTo > 0, s.Poisson:
		return 0
	case s.Rate > 0:
		return int64(s.Rate) * int64(s.Length) / int64(time.Second)
	case s.Every > 0:
		return int64(s.Users) * int64(s.Length) / int64(s.Every)
	}
	return int64(s.Users) * int64(s.Each)
}

// Load is what a run sends. The target counts it under the run's name.
//
// A step whose number of requests is not known makes the plan one without a number:
// no other step may have one then.
type Load struct {
	Workers int
	Steps   []Step
	// Delay is how long the target takes to answer.
	Delay time.Duration
	// Change adjusts the spec, in whatever does not change the plan.
	Change func(*v1beta1.LoadTestSpec)
}

// Planned is how many requests the run is to send; 0 if that is not known.
func (l Load) Planned() int64 {
	var n int64
	for _, s := range l.Steps {
		n += s.planned()
	}
	return n
}

// leastDowntime is which part of a step the target may be down by default: 0.5%.
const leastDowntime = 200

// Prompt is the time that the target may take by itself, with all in which it stands still,
// and be far from any threshold: half of what the shortest step allows by default.
func (l Load) Prompt() time.Duration {
	var shortest time.Duration
	for _, s := range l.Steps {
		if !s.isPause() && (shortest == 0 || s.Length < shortest) {
			shortest = s.Length
		}
	}
	return shortest / leastDowntime / 2
}

// Length is how long the run takes after its workers are ready, with all drains.
func (l Load) Length() time.Duration {
	var length time.Duration
	for _, s := range l.Steps {
		length += s.Length + l.Delay + Lead
	}
	return length
}

// Spec is the spec of a run of that name against a Service of its namespace.
func (l Load) Spec(name, service string) v1beta1.LoadTestSpec {
	path := "/" + name
	if l.Delay > 0 {
		path += "?delay=" + l.Delay.String()
	}
	spec := v1beta1.LoadTestSpec{
		Target: v1beta1.Target{
			Service: &v1beta1.ServiceReference{Name: service},
			Timeout: &metav1.Duration{Duration: Timeout},
		},
		Requests:    []v1beta1.Request{{Name: "counted", HTTP: &v1beta1.HTTPRequest{Path: path}}},
		Parallelism: ptr.To(int32(l.Workers)),
	}
	for i, s := range l.Steps {
		spec.Steps = append(spec.Steps, s.step(fmt.Sprintf("step-%d", i+1)))
	}
	if l.Change != nil {
		l.Change(&spec)
	}
	return spec
}

func (s Step) step(name string) v1beta1.Step {
	length := &metav1.Duration{Duration: s.Length}
	step := v1beta1.Step{Name: name, Duration: length}
	switch {
	case s.isPause():
		return v1beta1.Step{Name: name, Pause: length}
	case s.Rate > 0:
		step.Rate = decimal(float64(s.Rate))
		if s.Poisson {
			step.Arrivals = v1beta1.ArrivalsPoisson
		}
		return step
	case s.Each > 0:
		step.RequestsPerUser, step.Duration = ptr.To(int32(s.Each)), nil
	case s.Every > 0:
		step.RatePerUser = decimal(1 / s.Every.Seconds())
	case s.Think > 0:
		step.Think = v1beta1.NewThink(s.Think, s.Think)
	}
	step.Users = ptr.To(int32(s.Users))
	if s.RampTo > 0 {
		step.RampTo = decimal(float64(s.RampTo))
	}
	return step
}

func decimal(f float64) *v1beta1.Decimal {
	return ptr.To(v1beta1.NewDecimal(strconv.FormatFloat(f, 'f', -1, 64)))
}
