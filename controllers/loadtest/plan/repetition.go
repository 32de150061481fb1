package plan

import "github.com/loadtest-dev/loadtest-operator/api/v1beta1"

// MaxSteps is the bound of status.steps.
const MaxSteps = 128

// Repetitions is how many times all steps are run; a LoadTest that is run from a
// file has no defaults.
func Repetitions(spec *v1beta1.LoadTestSpec) int32 { return max(spec.Repetitions, 1) }

// repeated are the steps of all repetitions, of those of one: one repetition after
// the other, with a ladder's rest between them, which belongs to the one before it.
// The first repetition has the names that the user knows; in the others they are
// numbered. All rests of a ladder have the same name, in one repetition already.
func repeated(spec *v1beta1.LoadTestSpec, once []v1beta1.StepStatus) []v1beta1.StepStatus {
	for i := range once {
		once[i].Rung = int32(i) + 1
	}
	count := Repetitions(spec)
	if count == 1 || len(once) == 0 {
		return once // nothing, any number of times, is nothing
	}
	taken := names{}
	for _, s := range once {
		taken[s.Name] = true
	}
	rest, rests := restOf(spec.Ladder)
	rest.Rung = int32(len(once)) + 1
	var steps []v1beta1.StepStatus
	for repetition := int32(1); repetition <= count; repetition++ {
		if rests && repetition > 1 {
			rest.Repetition = repetition - 1
			steps = append(steps, rest)
		}
		for _, s := range once {
			s.Repetition = repetition
			if repetition > 1 && (!s.Load.IsPause() || spec.Ladder == nil) {
				s.Name = taken.unique(s.Name)
			}
			steps = append(steps, s)
		}
	}
	return steps
}

// checkSteps refuses more steps than a status can hold. It counts them without
// making them: a file can ask for any number.
func checkSteps(spec *v1beta1.LoadTestSpec) *Refusal {
	count, once := int64(Repetitions(spec)), int64(0)
	between, and := int64(0), ""
	if _, ok := restOf(spec.Ladder); ok {
		between, and = 1, " and the rests between them"
	}
	for _, s := range stepsOnce(spec) {
		once++
		if spec.Versus != nil && !s.Load.IsPause() {
			once += 1 + between
		}
	}
	if spec.Versus != nil {
		and += ", for both targets,"
	}
	if once > MaxSteps {
		return invalid("spec: %d steps are too many; at most %d are possible, pauses included.", once, MaxSteps)
	}
	total := count*once + (count-1)*between
	if total <= MaxSteps {
		return nil
	}
	return invalid("spec.repetitions: %d repetitions of %d steps%s are %d steps, pauses included; "+
		"at most %d are possible: lower repetitions to %d, or use fewer steps.",
		count, once, and, total, MaxSteps, (MaxSteps+between)/(once+between))
}
