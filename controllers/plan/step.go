package plan

import (
	"fmt"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
)

const (
	// DefaultTimeout bounds a request when spec.target.timeout is absent.
	DefaultTimeout = 30 * time.Second
	// MaxDrain bounds how long a step may wait for what is in flight at its end.
	MaxDrain = 30 * time.Second
	// Grace is how long the last final snapshot may take after the drain: a
	// reconnect with backoff, and a restart of the operator.
	Grace = 10 * time.Second
	// BurstSlack is what a burst may take beyond the timeouts of its requests, so
	// that one that takes its whole timeout is counted as such, and not cut.
	BurstSlack = 5 * time.Second
	// MaxBurst bounds a burst, whose length is not known beforehand.
	MaxBurst = time.Hour
)

// Step is a step as it will run: it sends load, or it is a pause.
type Step struct {
	// Index is the step's place in the run, from 0, pauses included.
	Index int32
	// Name identifies the step in reports.
	Name string
	// Repetition is which of spec.repetitions the step is part of, from 1; 0 when
	// there is but one.
	Repetition int32
	// Rung is the step's place within its repetition, from 0, pauses included: the
	// same step of another repetition has the same.
	Rung int32
	// Users is the number of concurrent users; 0 for pauses and arrivals.
	Users int32
	// RequestsPerUser is how many requests each user of a burst sends.
	RequestsPerUser int32
	// RateMicros is the total rate of paced users or arrivals, in requests per
	// 1,000,000 seconds; 0: without a schedule.
	RateMicros int64
	// EndRateMicros is the rate at the end of arrivals whose rate grows or falls
	// linearly; 0: the rate is constant.
	EndRateMicros int64
	// Poisson says that arrivals come at random times.
	Poisson bool
	// Total is what is shared out: users, or hits of arrivals. It is 0 for Poisson
	// arrivals, whose number is itself random: each worker draws a process of its
	// own with its part of the rate, and together they are one of the whole rate.
	Total int64
	// Pause is how long nothing is sent; 0 for a step that sends load.
	Pause time.Duration
	// WarmUp is how long load is sent that does not count, before Duration begins.
	WarmUp time.Duration
	// Duration is how long load is sent that counts; for a burst, its limit.
	Duration time.Duration
	// Burst says that the step ends when every user has sent its requests.
	Burst bool
	// Limit is the time from the start instant until the last final snapshot is
	// given up, or until a pause is over.
	Limit time.Duration
}

// Load says whether the step sends load.
func (s Step) Load() bool { return s.Pause == 0 }

// Scheduled says whether the step has a schedule that the generator can miss.
func (s Step) Scheduled() bool { return s.RateMicros > 0 }

// Drain is how long a step may wait, after its end, for what is in flight. The
// worker decides how long it does wait; this is the most that it may.
func Drain(timeout time.Duration) time.Duration { return min(timeout, MaxDrain) }

// Timeout is the bound of each request, its default applied.
func Timeout(spec *v1alpha1.LoadTestSpec) time.Duration {
	if t := spec.Target.Timeout; t != nil && t.Duration > 0 {
		return t.Duration
	}
	return DefaultTimeout
}

// Steps are the steps of a run in order, those of all repetitions; a ladder is
// expanded to a step for each rung with the rests between them.
func Steps(spec *v1alpha1.LoadTestSpec) []Step {
	steps := repeated(spec, stepsOnce(spec))
	for i := range steps {
		s := &steps[i]
		s.Index = int32(i)
		s.Limit = s.Pause
		if s.Load() {
			s.Limit = s.WarmUp + s.Duration + Drain(Timeout(spec)) + Grace
		}
	}
	return steps
}

// stepsOnce are the steps of one repetition.
func stepsOnce(spec *v1alpha1.LoadTestSpec) []Step {
	if spec.Ladder != nil {
		return ladderSteps(spec.Ladder)
	}
	return explicitSteps(spec.Steps, Timeout(spec))
}

func ladderSteps(l *v1alpha1.Ladder) []Step {
	var steps []Step
	taken := names{}
	for i, users := range l.Users {
		if rest, ok := restOf(l); ok && i > 0 {
			steps = append(steps, rest)
		}
		steps = append(steps, Step{
			Name:       taken.unique(strconv.Itoa(int(users))),
			Users:      users,
			RateMicros: totalMicros(users, micros(l.RatePerUser)),
			Total:      int64(users),
			WarmUp:     optional(l.WarmUp),
			Duration:   l.Duration.Duration,
		})
	}
	return steps
}

// restOf is the pause between the rungs of a ladder, if there is one.
func restOf(l *v1alpha1.Ladder) (rest Step, ok bool) {
	if l == nil || optional(l.Rest) <= 0 {
		return Step{}, false
	}
	return Step{Name: "rest", Pause: l.Rest.Duration}, true
}

func explicitSteps(list []v1alpha1.Step, timeout time.Duration) []Step {
	// The names that the user gave come first: a default gives way to them.
	taken := names{}
	for i := range list {
		taken[list[i].Name] = true
	}
	steps := make([]Step, len(list))
	for i := range list {
		steps[i] = explicitStep(&list[i], timeout)
		if list[i].Name != "" {
			steps[i].Name = list[i].Name
		} else {
			steps[i].Name = taken.unique(steps[i].Name)
		}
	}
	return steps
}

// explicitStep is one of spec.steps under its default name.
func explicitStep(s *v1alpha1.Step, timeout time.Duration) Step {
	switch {
	case s.Pause != nil:
		return Step{Name: "pause " + shortDuration(s.Pause.Duration), Pause: s.Pause.Duration}
	case s.Rate != nil:
		return rateStep(s)
	default:
		return userStep(s, timeout)
	}
}

func rateStep(s *v1alpha1.Step) Step {
	step := Step{
		Name:       string(*s.Rate) + "/s",
		RateMicros: micros(s.Rate),
		Poisson:    s.Arrivals == v1alpha1.ArrivalsPoisson,
		WarmUp:     optional(s.WarmUp),
		Duration:   optional(s.Duration),
	}
	end := step.RateMicros
	if s.RampTo != nil {
		step.Name += " to " + string(*s.RampTo) + "/s"
		step.EndRateMicros = micros(s.RampTo)
		end = step.EndRateMicros
	}
	if !step.Poisson {
		step.Total = hits(step.RateMicros, end, step.Duration)
	}
	return step
}

func userStep(s *v1alpha1.Step, timeout time.Duration) Step {
	var users int32
	if s.Users != nil {
		users = *s.Users
	}
	step := Step{
		Name:       fmt.Sprintf("%d users", users),
		Users:      users,
		RateMicros: totalMicros(users, micros(s.RatePerUser)),
		Total:      int64(users),
	}
	if s.RequestsPerUser != nil {
		step.Burst = true
		step.RequestsPerUser = *s.RequestsPerUser
		step.Name = fmt.Sprintf("%d users x %d", users, step.RequestsPerUser)
		// A user sends one request after another, each bounded by the timeout.
		step.Duration = min(time.Duration(step.RequestsPerUser)*timeout+BurstSlack, MaxBurst)
	} else {
		step.WarmUp, step.Duration = optional(s.WarmUp), optional(s.Duration)
	}
	return step
}

// optional is a duration, 0 if it is absent.
func optional(d *metav1.Duration) time.Duration {
	if d == nil {
		return 0
	}
	return d.Duration
}

// shortDuration is a duration without zero units at its end: 1m, not 1m0s.
func shortDuration(d time.Duration) string {
	s := d.String()
	if d >= time.Minute && d%time.Minute == 0 {
		s = s[:len(s)-len("0s")]
	}
	if d >= time.Hour && d%time.Hour == 0 {
		s = s[:len(s)-len("0m")]
	}
	return s
}
