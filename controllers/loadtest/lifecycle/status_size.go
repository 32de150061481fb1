package lifecycle

import (
	"fmt"
	"slices"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/question"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/targetstate"
)

// maxObject is the planned size of a LoadTest. The store of a cluster takes 1.5 MiB for a
// request; a fifth of that is left for what is not known here: who manages which field, and
// what the store adds.
const maxObject = 1_200 << 10

// The largest sizes of the parts of a status without histograms, results of requests and traces, in
// bytes of JSON, with counts of ten digits and times of an hour to the microsecond. The names
// and the plan of each step, whose length is known, are added.
const (
	sizeLoad       = 6_180 // a step that sends load: 4.6 KB with its message, the sentence of 1 KB about an unfit generator, and 0.5 KB of resultRefs
	sizeType       = 980   // the counts and the response times of a type of request in a step
	sizeIdeal      = 320   // the same without the generator's own delay, of a type that a threshold names
	sizeStreams    = 960   // the events and the three outcomes of streams, in a step or of a type of request in it
	sizeStreamGoal = 150   // how many streams kept a goal of a threshold
	sizeOnTime     = 105   // how many requests were on time, in a step or of a type of request in it
	sizeJourney    = 480   // what became of a journey in a step, but for where it failed
	sizeFailedIn   = 50    // how often a journey failed in one of its steps
	sizeLeftOut    = 50    // how often a step of a journey was left out
	sizeBecause    = 580   // how often a condition ended a journey in one of its steps, and why
	sizeSessions   = 60    // the sessions of a step
	sizeReplay     = 460   // what became of the lines of a log
	sizeRepeated   = 210   // the result of a threshold with inRepetitions in a step
	sizePause      = 400
	sizeSpread     = 600
	sizeThreshold  = 1 << 10 // a sentence of 512 characters, and the values
	sizeAudit      = 1 << 10 // likewise
	sizeRest       = 16 << 10
)

// maxDefaults is the largest number of default thresholds: on failureRate, unsentRate and
// downtime, and on failureRate of journeys.
const maxDefaults = 4

// room is the number of bytes that a LoadTest has left for histograms, results of
// requests and traces, beside the spec, the metadata, and what a status must say about every planned step.
// If it is negative, the status could not say that.
func room(lt *v1beta1.LoadTest, steps []v1beta1.StepStatus) int {
	left := maxObject - sizeOfGiven(lt) - sizeOfStatus(&lt.Spec, steps) - sizeOfEnvironment(lt, steps) - sizeOfAnswers(lt, steps)
	if lt.Status.Baseline != nil {
		left -= v1beta1.JSONSize(lt.Status.Baseline)
	}
	if lt.Status.Internal.Access != nil {
		left -= v1beta1.JSONSize(lt.Status.Internal.Access)
	}
	if control := lt.Status.Internal.ControlAccess; control != nil {
		left -= v1beta1.JSONSize(control)
	}
	if others := lt.Status.Internal.OtherAccess; len(others) > 0 {
		left -= v1beta1.JSONSize(others)
	}
	return left
}

// sizeOfEnvironment is the size of what the status says about the target, if it is read.
func sizeOfEnvironment(lt *v1beta1.LoadTest, steps []v1beta1.StepStatus) int {
	if lt.Status.Environment == nil {
		return 0
	}
	each := targetstate.MaxStepSize
	if lt.Status.Environment.Usage {
		each += targetstate.MaxUsageSize
	}
	return targetstate.MaxSize + loads(steps)*each
}

// sizeOfAnswers is the size of the answers to the queries that a run asks for.
func sizeOfAnswers(lt *v1beta1.LoadTest, steps []v1beta1.StepStatus) (n int) {
	for _, name := range lt.Status.Internal.Queries {
		n += loads(steps)*(question.MaxSize+len(name)) + v1beta1.JSONSize(name)
	}
	return n
}

// sizeOfGiven is the size of the user's part of a LoadTest.
func sizeOfGiven(lt *v1beta1.LoadTest) int {
	given := v1beta1.LoadTest{ObjectMeta: lt.ObjectMeta, Spec: lt.Spec}
	given.ManagedFields = nil // the operator's cache has none
	return v1beta1.JSONSize(given)
}

func sizeOfStatus(spec *v1beta1.LoadTestSpec, steps []v1beta1.StepStatus) int {
	onTime := sizeOnTime * len(plan.OnTime(spec))
	load := sizeLoad + onTime
	for _, t := range spec.Thresholds {
		if t.InRepetitions != nil {
			load += sizeRepeated
		}
	}
	streams, ofStreams := 0, sizeStreams+sizeStreamGoal*len(plan.StreamGoals(spec))
	for _, name := range requestTypes(spec) {
		load += sizeType + onTime + v1beta1.JSONSize(name)
		if mayStream(spec, name) {
			load += ofStreams
			streams = ofStreams
		}
		if plan.NamesType(spec, name) {
			load += sizeIdeal
		}
	}
	load += streams + sizeOfJourneys(spec)
	if spec.Replay != nil {
		load += sizeReplay
	}
	sum := sizeRest + v1beta1.JSONSize(plan.RequestNames(spec)) + (len(spec.Thresholds)+maxDefaults)*sizeThreshold + len(spec.Audits)*sizeAudit
	for _, s := range steps {
		sum += sizeOfPlan(&s)
		switch {
		case s.Load.IsPause():
			sum += sizePause
		case s.Repetition == 1:
			sum += load + sizeSpread + v1beta1.JSONSize(s.Name)
		default:
			sum += load
		}
	}
	return sum
}

// sizeOfJourneys is the size of what a step says of the journeys.
func sizeOfJourneys(spec *v1beta1.LoadTestSpec) (n int) {
	if len(spec.Journeys) > 0 {
		n = sizeSessions
	}
	for i := range spec.Journeys {
		j := &spec.Journeys[i]
		n += sizeJourney + v1beta1.JSONSize(j.Name)
		for k := range j.Steps {
			s := &j.Steps[k]
			name := s.RequestName()
			if name != "" || s.If != "" {
				n += sizeFailedIn + v1beta1.JSONSize(name)
			}
			if s.If != "" {
				n += sizeLeftOut + v1beta1.JSONSize(name)
			}
			if s.If != "" || s.Repeat != nil {
				n += sizeBecause
			}
		}
	}
	return n
}

// sizeOfPlan is the size of a step that has not begun.
func sizeOfPlan(s *v1beta1.StepStatus) int {
	return v1beta1.JSONSize(v1beta1.StepStatus{Name: s.Name, Repetition: s.Repetition, Rung: s.Rung, State: s.State, Load: s.Load, TimeLimit: s.TimeLimit})
}

// mayStream says whether responses to requests of a type may come in parts.
func mayStream(spec *v1beta1.LoadTestSpec, name string) bool {
	for i, r := range plan.RequestNames(spec) {
		if r.Type == name && plan.MayStream(&spec.Requests[i]) {
			return true
		}
	}
	return false
}

// requestTypes are the types of the requests, each once.
func requestTypes(spec *v1beta1.LoadTestSpec) []string {
	var list []string
	for _, r := range plan.RequestNames(spec) {
		list = append(list, r.Type)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// checkRoom refuses a run whose status would not fit: it could not be written any
// more, and the run would never end.
func checkRoom(lt *v1beta1.LoadTest, steps []v1beta1.StepStatus) *plan.Refusal {
	if room(lt, steps) >= 0 {
		return nil
	}
	const unit = 1 << 10
	return &plan.Refusal{Reason: v1beta1.ReasonInvalidSpec, Message: fmt.Sprintf("spec: the results of load steps x types of request (%d x %d) take up to %d KiB, and the spec and the metadata %d KiB; "+
		"a LoadTest can hold %d KiB: use fewer steps, repetitions, types or journeys, or bodyFrom for long bodies.",
		loads(steps), len(requestTypes(&lt.Spec)), (sizeOfStatus(&lt.Spec, steps)+sizeOfEnvironment(lt, steps)+sizeOfAnswers(lt, steps))/unit, sizeOfGiven(lt)/unit, maxObject/unit)}
}

// loads is the number of steps that send load.
func loads(steps []v1beta1.StepStatus) (n int) {
	for _, s := range steps {
		if !s.Load.IsPause() {
			n++
		}
	}
	return n
}
