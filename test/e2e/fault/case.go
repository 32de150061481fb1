package fault

import (
	"math/rand/v2"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
)

// Disturbance is what is done to a worker, or to the target, for a while.
type Disturbance string

// The disturbances. Stopped is a signal to the processes; Frozen is by their control group;
// Throttled has the group run for a hundredth of the time. A target that is paused is
// stopped, and its connections stay open; one that hangs reads and does not answer.
const (
	WorkerStopped   Disturbance = "worker stopped"
	WorkerFrozen    Disturbance = "worker frozen"
	WorkerThrottled Disturbance = "worker throttled"
	TargetPaused    Disturbance = "target paused"
	TargetHangs     Disturbance = "target hangs"
)

// IsOfTarget says whether the target is disturbed, and not one of the workers.
func (d Disturbance) IsOfTarget() bool { return d == TargetPaused || d == TargetHangs }

// lasts is for how long of caseLength.
func (d Disturbance) lasts() time.Duration {
	if d.IsOfTarget() {
		return 14 * time.Second
	}
	return 4 * time.Second
}

// expectation is what must become of a run. The target says itself that it was silent: it
// takes a moment to stop it, and a request that hangs ends with its timeout. One of two workers
// stands still for a fifth of the time: 3% to 15% of the load are not the planned one, which is
// more than the status lets pass, and says. One that is throttled runs now and then;
// for how long it had something to run and was not let, the kernel counts.
func (d Disturbance) expectation() Expectation {
	switch d {
	case TargetPaused:
		return Expectation{Verdicts: []string{Failed}, Silent: d.lasts(), Stood: d.lasts() - time.Second}
	case TargetHangs:
		return Expectation{Verdicts: []string{Failed}, Silent: d.lasts(), Slowest: Timeout - time.Second}
	case WorkerThrottled:
		return Expectation{Verdicts: []string{Passed, Inconclusive}, Throttled: true}
	}
	return Expectation{Verdicts: []string{Inconclusive}, WorkerGone: true, Reason: v1beta1.ReasonLoadDisplaced + ":"}
}

// Protocols are those that a case may use.
var Protocols = []string{"HTTP/1.1", "HTTP/2", "gRPC", "HTTP/1.1 over TLS", "HTTP/2 over TLS"}

// Case is a run of one kind of load over one protocol that is disturbed within its only step.
type Case struct {
	Disturbance Disturbance
	// Pattern names the kind of load.
	Pattern  string
	Protocol string
	Load     Load
	// After is how long after the beginning of the step the disturbance comes, and Lasts
	// for how long it does. It ends before the step does. Drawn says that After was drawn.
	After, Lasts time.Duration
	Drawn        bool
	Want         Expectation
	// Full says that it is for the full suite only.
	Full bool
}

// Run names the run.
func (c Case) Run() string { return c.Pattern + ", " + c.Protocol }

// caseLength is how long the step of a case takes.
const caseLength = 20 * time.Second

// pattern is a kind of load.
type pattern struct {
	name  string
	step  Step
	delay time.Duration
	// isJourney says that users send the requests as a journey.
	isJourney bool
	// often is what disturbs it on every change.
	often Disturbance
}

// patterns are all kinds of load. Each sends 40 to 200 requests a second, so that eight runs at
// once leave two cores the time to keep their schedules.
func patterns() []pattern {
	const users = 20
	return []pattern{
		{name: "paced users", step: Step{Users: users, Every: 500 * time.Millisecond, Length: caseLength}, often: WorkerStopped},
		{name: "closed users", step: Step{Users: users, Length: caseLength}, delay: 100 * time.Millisecond, often: TargetPaused},
		{name: "users who think", step: Step{Users: users, Think: 500 * time.Millisecond, Length: caseLength}, often: TargetPaused},
		{name: "journeys", step: Step{Users: users, Length: caseLength}, isJourney: true, often: WorkerStopped},
		{name: "arrivals", step: Step{Rate: 2 * users, Length: caseLength}, often: TargetPaused},
		{name: "Poisson arrivals", step: Step{Rate: 2 * users, Poisson: true, Length: caseLength}, often: WorkerStopped},
		{name: "a ramp", step: Step{Users: users / 5, RampTo: users * 9 / 5, Every: 500 * time.Millisecond, Length: caseLength}, often: WorkerStopped},
		{name: "a burst", step: Step{Users: users, Each: 100, Length: caseLength}, delay: caseLength / 100, often: TargetPaused},
	}
}

// Cases are all kinds of load over all protocols for a worker that is stopped and a target that
// is paused; for each other disturbance each kind of load over one protocol, and one of them over
// all. Those that are not for the full suite only have each kind of load for one of the first two,
// over each protocol together, and one run for each other disturbance. The seed is for the moments
// that are drawn.
func Cases(seed uint64) []Case {
	var all []Case
	for k, d := range []Disturbance{WorkerStopped, TargetPaused, WorkerFrozen, WorkerThrottled, TargetHangs} {
		isWhole := d == WorkerStopped || d == TargetPaused
		for i, p := range patterns() {
			for j, protocol := range Protocols {
				isOwn := i%len(Protocols) == j // the protocol of this kind of load
				if !isWhole && !isOwn && i != k {
					continue
				}
				after, drawn := moment(d.lasts(), i+j, rand.New(rand.NewPCG(seed, uint64(len(all)))))
				all = append(all, Case{
					Disturbance: d, Pattern: p.name, Protocol: protocol, Load: p.load(d),
					After: after, Lasts: d.lasts(), Drawn: drawn, Want: d.expectation(),
					Full: !isOwn || isWhole && p.often != d || !isWhole && i != k,
				})
			}
		}
	}
	return all
}

// moment is one of four, at the beginning, in the middle or at the end of the step, or drawn
// from between these, at which what lasts that long has ended before the step.
func moment(lasts time.Duration, n int, random *rand.Rand) (after time.Duration, drawn bool) {
	const fixed = 3
	room := caseLength - lasts
	first, last := room/8, room*7/8
	if n %= fixed + 1; n < fixed {
		return first + time.Duration(n)*(last-first)/(fixed-1), false
	}
	return (first + time.Duration(random.Int64N(int64(last-first)))).Truncate(time.Millisecond), true
}

// load has the thresholds that were once judged by the generator's own time, far above what
// the target takes. The longest time is no question of a target that is silent: any load
// answers it.
func (p pattern) load(d Disturbance) Load {
	return Load{Workers: 2, Delay: p.delay, Steps: []Step{p.step}, Change: func(spec *v1beta1.LoadTestSpec) {
		spec.Thresholds = []v1beta1.Threshold{most("p95", "500ms")}
		if !d.IsOfTarget() {
			spec.Thresholds = append(spec.Thresholds, most(v1beta1.MetricLongest, "2s"))
		}
		if p.isJourney {
			request := v1beta1.JourneyStep{Request: spec.Requests[0].Name}
			think := v1beta1.JourneyStep{Think: v1beta1.NewThink(500*time.Millisecond, 500*time.Millisecond)}
			spec.Journeys = []v1beta1.Journey{{Name: "visit", Steps: []v1beta1.JourneyStep{request, think, request, think}}}
		}
	}}
}

func most(metric v1beta1.Metric, limit string) v1beta1.Threshold {
	value := intstr.FromString(limit)
	return v1beta1.Threshold{Metric: metric, Max: &value}
}

// Name is the name of the LoadTest for a run that a fault hits, and the name under which the
// target counts: at most 52 characters, so that its pods have room for theirs.
func Name(kind, run string) string {
	name := strings.NewReplacer(" ", "-", ",", "", "'", "", "/", "", ".", "").Replace(strings.ToLower(kind + " " + run))
	return strings.TrimRight(name[:min(len(name), 52)], "-")
}
