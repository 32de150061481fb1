package rungs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
)

// Rung is a step that sends load, with all its repetitions.
type Rung struct {
	// Number is the step's rung.
	Number int32
	// Name is the step's in the first repetition.
	Name string
	Load v1beta1.StepLoad
	// Steps are the repetitions in order.
	Steps []*v1beta1.StepStatus
}

// Of are the rungs of a run, in the order of its first repetition. Of a run against two
// targets they are those of the candidate.
func Of(steps []v1beta1.StepStatus) []Rung {
	var list []Rung
	at := map[int32]int{}
	for i := range steps {
		s := &steps[i]
		if s.Load.IsPause() || s.Side == v1beta1.SideControl {
			continue
		}
		place, ok := at[s.Rung]
		if !ok {
			place = len(list)
			at[s.Rung] = place
			list = append(list, Rung{Number: s.Rung, Name: s.Name, Load: s.Load})
		}
		list[place].Steps = append(list[place].Steps, s)
	}
	return list
}

// NameOf is the name that a step has in the plan: that of its rung in the first repetition, for the
// target that is judged.
func NameOf(steps []v1beta1.StepStatus, step *v1beta1.StepStatus) string {
	for i := range steps {
		if s := &steps[i]; s.Rung == step.Rung && s.Side != v1beta1.SideControl && s.Load.IsPause() == step.Load.IsPause() {
			return s.Name
		}
	}
	return step.Name
}

// Pair are the steps of a rung that were sent to either target in one repetition.
type Pair struct {
	Candidate, Control *v1beta1.StepStatus
}

// Pairs are those of a rung, in the order of the repetitions; none of a run against one
// target.
func Pairs(steps []v1beta1.StepStatus, rung int32) []Pair {
	var list []Pair
	at := map[int32]int{}
	for i := range steps {
		s := &steps[i]
		if s.Rung != rung || s.Side == "" {
			continue
		}
		place, ok := at[s.Repetition]
		if !ok {
			place = len(list)
			at[s.Repetition] = place
			list = append(list, Pair{})
		}
		if s.Side == v1beta1.SideControl {
			list[place].Control = s
		} else {
			list[place].Candidate = s
		}
	}
	return list
}

// Find is the rung of a list that has the name and the load of another; nil: there is
// none.
func Find(list []Rung, other *Rung) *Rung {
	for i := range list {
		if list[i].Name == other.Name && SameLoad(&list[i].Load, &other.Load) {
			return &list[i]
		}
	}
	return nil
}

// SameLoad says whether two steps send the same. How long a burst may take at most is no
// part of that: it follows from the timeout.
func SameLoad(a, b *v1beta1.StepLoad) bool {
	first, ok := spelled(a)
	second, okToo := spelled(b)
	return ok && okToo && maps.Equal(first, second)
}

// spelled are the fields of a load as texts: a rate of 5 is one of "5".
func spelled(l *v1beta1.StepLoad) (map[string]string, bool) {
	raw, err := json.Marshal(l)
	fields, decoder := map[string]any{}, json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	if err != nil || decoder.Decode(&fields) != nil {
		return nil, false // not reached: it came as JSON
	}
	texts := map[string]string{}
	for name, value := range fields {
		texts[name] = fmt.Sprint(value)
	}
	delete(texts, "maxDuration")
	return texts, true
}

// IsWhole says whether a step was carried out as it was planned, by all workers, against
// one target.
func IsWhole(step *v1beta1.StepStatus, workers int32) bool {
	return !step.TargetChanged() && step.State == v1beta1.StepComplete && step.Result != nil && step.WorkersReporting >= workers
}

// IsSound says of a result that it is of the planned load: the generator did not displace it.
func IsSound(r *v1beta1.StepResult) bool { return r.Generator == nil || !r.Generator.LoadDisplaced }
