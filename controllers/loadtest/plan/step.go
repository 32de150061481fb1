package plan

import (
	"cmp"
	"fmt"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

const (
	// DefaultTimeout bounds a request when spec.target.timeout is absent.
	DefaultTimeout = 30 * time.Second
	// Grace is how long the last final snapshot may take after the drain: a worker
	// that is cut off for half a minute, notices it within 15 s and reconnects. Only a
	// step that lacks one lasts as long.
	Grace = time.Minute
	// BurstSlack is what a burst may take beyond the timeouts of its requests, so
	// that one that takes its whole timeout is counted as such, and not cut.
	BurstSlack = 5 * time.Second
	// MaxBurst bounds a burst, whose length is not known beforehand.
	MaxBurst = time.Hour
)

// Timeout is the bound of a request, its default applied.
func Timeout(spec *v1beta1.LoadTestSpec, r *v1beta1.Request) time.Duration {
	if r.Timeout != nil && r.Timeout.Duration > 0 {
		return r.Timeout.Duration
	}
	return TargetTimeout(targetOf(spec, r))
}

// LongestTimeout is the longest of the requests whose index is chosen: that of the target if
// none is.
func LongestTimeout(spec *v1beta1.LoadTestSpec, chosen func(i int) bool) time.Duration {
	longest := time.Duration(0)
	for i := range spec.Requests {
		if chosen(i) {
			longest = max(longest, Timeout(spec, &spec.Requests[i]))
		}
	}
	return cmp.Or(longest, TargetTimeout(&spec.Target))
}

// longestTimeout is that of all requests: a worker waits for as long at the end of a step.
func longestTimeout(spec *v1beta1.LoadTestSpec) time.Duration {
	return LongestTimeout(spec, func(int) bool { return true })
}

// TargetTimeout is the bound of requests that have none of their own, its default applied.
func TargetTimeout(t *v1beta1.Target) time.Duration {
	if t.Timeout != nil && t.Timeout.Duration > 0 {
		return t.Timeout.Duration
	}
	return DefaultTimeout
}

// Steps are the steps of a run in order, those of all repetitions; a ladder is
// expanded to a step for each rung with the rests between them. Of a search they are its
// first probe. Of a comparison they are those of one side.
func Steps(spec *v1beta1.LoadTestSpec) []v1beta1.StepStatus {
	steps := repeated(spec, stepsOnce(spec))
	for i := range steps {
		s := &steps[i]
		s.State = v1beta1.StepPending
		if l := &s.Load; !l.IsPause() {
			length := v1beta1.OrZero(l.WarmUp) + v1beta1.OrZero(l.Duration) + v1beta1.OrZero(l.MaxDuration)
			s.TimeLimit = &metav1.Duration{Duration: length + measure.Drain(longestTimeout(spec)) + Grace}
		}
	}
	return steps
}

// stepsOnce are the steps of one repetition, without their rungs.
func stepsOnce(spec *v1beta1.LoadTestSpec) []v1beta1.StepStatus {
	steps := loadsOnce(spec)
	for i := range steps {
		setSessions(spec, &steps[i].Load)
	}
	return steps
}

// loadsOnce are those steps with rates that are all of requests.
func loadsOnce(spec *v1beta1.LoadTestSpec) []v1beta1.StepStatus {
	if s := spec.Search; s != nil {
		low, _ := searchBounds(s)
		return []v1beta1.StepStatus{probeOf(s, low)}
	}
	if spec.Replay != nil {
		return []v1beta1.StepStatus{replayStep(spec.Replay)}
	}
	if spec.Ladder != nil {
		return ladderSteps(spec.Ladder)
	}
	return explicitSteps(spec.Steps, longestTimeout(spec)+longestWaits(spec))
}

func ladderSteps(l *v1beta1.Ladder) []v1beta1.StepStatus {
	var steps []v1beta1.StepStatus
	taken := names{}
	for i, rung := range rungs(l) {
		if rest, ok := restOf(l); ok && i > 0 {
			steps = append(steps, rest)
		}
		rung.Name = taken.unique(rung.Name)
		steps = append(steps, rung)
	}
	return steps
}

// rungs are the steps of a ladder, named by what they send; two may have the same name.
func rungs(l *v1beta1.Ladder) []v1beta1.StepStatus {
	var list []v1beta1.StepStatus
	for _, users := range l.Users {
		list = append(list, v1beta1.StepStatus{
			Name: strconv.Itoa(int(users)),
			Load: usersLoad(&v1beta1.Step{Users: &users, RatePerUser: l.RatePerUser, Think: l.Think, WarmUp: l.WarmUp, Duration: &l.Duration}),
		})
	}
	for i := range l.Rates {
		list = append(list, v1beta1.StepStatus{
			Name: l.Rates[i].String() + "/s",
			Load: rateLoad(&v1beta1.Step{Rate: &l.Rates[i], WarmUp: l.WarmUp, Duration: &l.Duration}),
		})
	}
	return list
}

// restOf is the pause between the rungs of a ladder, if there is one.
func restOf(l *v1beta1.Ladder) (rest v1beta1.StepStatus, ok bool) {
	if l == nil || v1beta1.OrZero(l.Rest) <= 0 {
		return v1beta1.StepStatus{}, false
	}
	return v1beta1.StepStatus{Name: "rest", Load: v1beta1.StepLoad{Pause: l.Rest}}, true
}

// explicitSteps are spec.steps. A user's request takes no longer than each, the waits of a
// journey before it included.
func explicitSteps(list []v1beta1.Step, each time.Duration) []v1beta1.StepStatus {
	steps := make([]v1beta1.StepStatus, len(list))
	for i := range list {
		steps[i] = v1beta1.StepStatus{Name: list[i].Name, Load: explicitLoad(&list[i], each)}
	}
	return steps
}

// explicitLoad is that of one of spec.steps.
func explicitLoad(s *v1beta1.Step, each time.Duration) v1beta1.StepLoad {
	switch {
	case s.Pause != nil:
		return v1beta1.StepLoad{Pause: s.Pause}
	case s.Rate != nil:
		return rateLoad(s)
	case s.RequestsPerUser != nil:
		return burstLoad(s, each)
	default:
		return usersLoad(s)
	}
}

// usersLoad is the load of users who send until the duration is over.
func usersLoad(s *v1beta1.Step) v1beta1.StepLoad {
	load := v1beta1.StepLoad{
		Users: ptr.Deref(s.Users, 0), RatePerUser: s.RatePerUser, Think: s.Think,
		RampTo: s.RampTo, WarmUp: positive(s.WarmUp), Duration: s.Duration,
	}
	switch rate := totalRate(&load); {
	case rate == 0 || rate > MaxRateMicros:
	case load.RampTo != nil:
		if ramp := rampOf(&load); isPlanned(ramp) {
			load.Requests = rampRequests(ramp, 0, 1)
		}
	default:
		// The schedule begins with the warm-up and goes on in the duration.
		warmUp := v1beta1.OrZero(load.WarmUp)
		load.Requests = hits(rate, rate, warmUp+v1beta1.OrZero(load.Duration)) - hits(rate, rate, warmUp)
	}
	return load
}

func burstLoad(s *v1beta1.Step, longest time.Duration) v1beta1.StepLoad {
	users, each := ptr.Deref(s.Users, 0), *s.RequestsPerUser
	return v1beta1.StepLoad{
		Users:           users,
		RequestsPerUser: each,
		Think:           s.Think,
		Requests:        int64(users) * int64(each),
		// A user sends one request after another, each bounded by its timeout, and thinks
		// between them.
		MaxDuration: &metav1.Duration{Duration: min(time.Duration(each)*longest+longestThinking(s.Think, each)+BurstSlack, MaxBurst)},
	}
}

func rateLoad(s *v1beta1.Step) v1beta1.StepLoad {
	last := s.Rate
	if s.RampTo != nil {
		last = s.RampTo
	}
	load := v1beta1.StepLoad{
		Rate: s.Rate, RampTo: s.RampTo, Arrivals: cmp.Or(s.Arrivals, v1beta1.ArrivalsEven),
		WarmUp: positive(s.WarmUp), Duration: s.Duration,
	}
	if load.Arrivals == v1beta1.ArrivalsEven {
		load.Requests = hits(micros(s.Rate), micros(last), v1beta1.OrZero(s.Duration))
	}
	return load
}

// totalRate is the rate of a step, that of all its users together, in millionths; of a
// ramp of users, when they are most. 0: the step has no schedule.
func totalRate(l *v1beta1.StepLoad) int64 {
	if l.Rate != nil {
		return micros(l.Rate)
	}
	return totalMicros(l.MostUsers(), micros(l.RatePerUser))
}

// shared is what the workers divide among them: users, or the requests or sessions of arrivals.
// It is 0 for Poisson arrivals, whose number is itself random: each worker draws a
// process of its own with its part of the rate, and together they are one of the
// whole rate.
func shared(l *v1beta1.StepLoad) int64 {
	switch {
	case l.Sessions != nil:
		return *l.Sessions
	case l.Rate != nil:
		return l.Requests
	}
	return int64(l.MostUsers())
}

// positive is a duration, nil if it is none.
func positive(d *metav1.Duration) *metav1.Duration {
	if v1beta1.OrZero(d) <= 0 {
		return nil
	}
	return d
}

// names are the names that are taken.
type names map[string]bool

// unique takes the name, or the first of "name (2)", "name (3)", … that is free:
// thresholds and reports name a step by it. A name that grows too long is cut.
func (n names) unique(name string) string {
	candidate := name
	for i := 2; n[candidate]; i++ {
		candidate = numbered(name, i)
	}
	n[candidate] = true
	return candidate
}

func numbered(name string, i int) string {
	number := fmt.Sprintf(" (%d)", i)
	runes := []rune(name)
	return string(runes[:min(len(runes), maxName-len(number))]) + number
}
