package fault

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
)

// Lead is the time from the release of a run that is held to its next step: the
// operator's lead, and the writes before it.
const Lead = 600 * time.Millisecond

// Instant is a state of a run in which a fault hits it. Several runs, each of another
// instant, are hit by one fault: the times are counted from it, and negative before.
//
// A run whose start cannot be timed to the instant is held after its first step, and
// released when its next one is to begin.
type Instant struct {
	Name string
	Load Load
	// Created is when the run is created, if it is not held.
	Created time.Duration
	// Released is when it goes on, if it is held. A time after the fault is counted
	// from the fault's end.
	Released time.Duration
	// Terminated is when it is terminated; 0: it is not.
	Terminated time.Duration
}

// IsHeld says whether the run waits after its first step.
func (i Instant) IsHeld() bool { return i.Created == 0 }

// Verdicts are those that are right after a fault that is not the workers'.
func (i Instant) Verdicts() []string {
	if i.Terminated != 0 {
		return []string{Canceled}
	}
	return []string{Passed}
}

// Prologue is how long before the fault the first of several runs is created or
// released.
func Prologue(all []Instant) time.Duration {
	var longest time.Duration
	for _, i := range all {
		longest = max(longest, -i.Created, -i.Released)
	}
	return longest
}

const (
	// first has enough requests for a 99th percentile of how late they were sent.
	first  = 4 * time.Second
	second = 8 * time.Second
	third  = 4 * time.Second
	// slow is the delay of a target whose answers are waited for at the end of a step.
	slow = 3 * time.Second
)

// users send 30 requests a second, one each.
func users(length time.Duration) Step { return Step{Users: 30, Every: time.Second, Length: length} }

// slowUsers send as many, and seldom enough for a target that is slow.
func slowUsers(length time.Duration) Step {
	return Step{Users: 120, Every: 4 * time.Second, Length: length}
}

// Instants are the states in which the operator's faults hit a run.
func Instants() []Instant {
	three := []Step{users(first), users(second), users(third)}
	drained := []Step{slowUsers(first), slowUsers(second), slowUsers(third)}
	return []Instant{
		{Name: "starting", Load: Load{Workers: 1, Steps: three}, Created: -1200 * time.Millisecond},
		// 4,000 connections take four seconds, and the worker is there after two.
		{Name: "opening connections", Created: -4 * time.Second,
			Load: Load{Workers: 1, Steps: []Step{{Users: 4000, Every: 100 * time.Second, Length: second}}}},
		{Name: "setup", Load: Load{Workers: 1, Steps: three, Change: warmUp}, Created: -8 * time.Second},
		{Name: "the gate", Load: Load{Workers: 2, Steps: three}, Released: -200 * time.Millisecond},
		{Name: "the middle of a step", Load: Load{Workers: 3, Steps: three}, Released: -Lead - second/2},
		{Name: "the end of a step", Load: Load{Workers: 2, Steps: three}, Released: -Lead - second + 400*time.Millisecond},
		{Name: "the drain", Load: Load{Workers: 2, Steps: drained, Delay: slow}, Released: -Lead - second - slow/2},
		{Name: "a pause", Released: -Lead - third - second/2,
			Load: Load{Workers: 1, Steps: []Step{users(first), users(third), {Length: second}, users(third)}}},
		{Name: "held", Load: Load{Workers: 1, Steps: three}, Released: 3 * time.Second},
		{Name: "cut", Load: Load{Workers: 2, Steps: drained, Delay: slow}, Released: -Lead - second/2, Terminated: -500 * time.Millisecond},
		{Name: "finishing", Load: Load{Workers: 1, Steps: []Step{users(first), users(third)}}, Released: -Lead - third - 500*time.Millisecond},
	}
}

// warmUp is a setup that lasts for as long as a fault may need to come. It is counted
// under a name of its own.
func warmUp(spec *v1beta1.LoadTestSpec) {
	path := spec.Requests[0].HTTP.Path + "-setup?delay=300ms"
	spec.Requests = append(spec.Requests, v1beta1.Request{Name: "setup", Weight: ptr.To[int32](0), HTTP: &v1beta1.HTTPRequest{Path: path}})
	spec.Setup = &v1beta1.Setup{WarmUp: &v1beta1.WarmUp{Request: "setup", Duration: metav1.Duration{Duration: 10 * time.Second}}}
}
