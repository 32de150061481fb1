package verdict

import (
	"fmt"
	"slices"
	"strings"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// addRepeated judges the thresholds with inRepetitions by what they came to in all steps
// so far, with that of step i.
func (j *Judged) addRepeated(spec *v1beta1.LoadTestSpec, status *v1beta1.LoadTestStatus, i int) {
	steps := slices.Clone(status.Steps)
	steps[i].Repeated = j.Repeated
	if j.Generator != nil {
		steps[i].Result = steps[i].Result.DeepCopy()
		steps[i].Result.Generator = j.Generator
	}
	for _, latest := range j.Repeated {
		t := &spec.Thresholds[latest.Threshold]
		if newTally(steps, &steps[i], int(latest.Threshold), t).state() == v1beta1.ThresholdFailed && stops(spec, t) {
			j.Stop = true
		}
		j.Thresholds[latest.Threshold] = worstRung(steps, int(latest.Threshold), t)
	}
}

// worstRung is the result of a threshold with inRepetitions over all rungs: the first of
// the worst, of those that kept it that of the most exceptions, or the narrowest. One that
// is not decided yet is worse than one that kept it.
func worstRung(steps []v1beta1.StepStatus, n int, t *v1beta1.Threshold) v1beta1.ThresholdStatus {
	order := map[v1beta1.ThresholdState]int{v1beta1.ThresholdPending: 1, v1beta1.ThresholdInconclusive: 2, v1beta1.ThresholdFailed: 3}
	worst, exceptions := pending(t), -1
	for i := range steps {
		if steps[i].Repetition > 1 {
			continue // it is of the same rung
		}
		tally := newTally(steps, &steps[i], n, t)
		if !tally.isAbout() {
			continue
		}
		latest, except := tally.status(), len(tally.breached)+len(tally.unknown)
		// A rung that kept it has fewer exceptions than one that did not.
		if exceptions < 0 || order[latest.State] > order[worst.State] ||
			latest.State == v1beta1.ThresholdPassed && (except > exceptions || except == exceptions && narrower(t, latest, worst)) {
			worst, exceptions = latest, except
		}
	}
	return worst
}

// tally is what a threshold with inRepetitions came to in the repetitions of a rung.
type tally struct {
	threshold *v1beta1.Threshold
	// all is how many repetitions are planned, left how many may yet be judged, and judged
	// how many were.
	all, left, judged int
	// kept, breached and unknown are those that were judged. An unknown one was not
	// judged, or without a result.
	kept, breached, unknown []inRepetition
}

// inRepetition is the result in one repetition.
type inRepetition struct {
	step *v1beta1.StepStatus
	v1beta1.RepeatedThreshold
}

// newTally is that of the repetitions of a step, with threshold n of the spec.
func newTally(steps []v1beta1.StepStatus, of *v1beta1.StepStatus, n int, threshold *v1beta1.Threshold) tally {
	t := tally{threshold: threshold}
	for i := range steps {
		step := &steps[i]
		if step.Rung == of.Rung && step.Side == of.Side {
			t.add(step, n)
		}
	}
	return t
}

func (t *tally) add(step *v1beta1.StepStatus, n int) {
	t.all++
	at := slices.IndexFunc(step.Repeated, func(r v1beta1.RepeatedThreshold) bool { return int(r.Threshold) == n })
	if at < 0 {
		switch step.State {
		case v1beta1.StepPending, v1beta1.StepRunning:
			t.left++
		default:
			t.unknown = append(t.unknown, inRepetition{step: step})
		}
		return
	}
	t.judged++
	result := inRepetition{step, step.Repeated[at]}
	switch result.State {
	case v1beta1.ThresholdPassed:
		t.kept = append(t.kept, result)
	case v1beta1.ThresholdFailed:
		t.breached = append(t.breached, result)
	default:
		t.unknown = append(t.unknown, result)
	}
}

// isAbout says whether the threshold was judged in any repetition.
func (t tally) isAbout() bool { return t.judged > 0 }

// required is in how many repetitions the threshold must be kept.
func (t tally) required() int { return min(int(*t.threshold.InRepetitions), t.all) }

// state is decided as soon as no repetition that is left could change it.
func (t tally) state() v1beta1.ThresholdState {
	required, kept := t.required(), len(t.kept)
	switch {
	case kept >= required:
		return v1beta1.ThresholdPassed
	case kept+len(t.unknown)+t.left < required:
		return v1beta1.ThresholdFailed
	case kept+t.left < required:
		return v1beta1.ThresholdInconclusive
	}
	return v1beta1.ThresholdPending
}

// status is the result of the rung. The value that it names is that of a repetition that
// decided: the narrowest that kept the threshold, or the first that did not.
func (t tally) status() v1beta1.ThresholdStatus {
	s := pending(t.threshold)
	s.State = t.state()
	var decided inRepetition
	switch s.State {
	case v1beta1.ThresholdFailed:
		decided = t.breached[0]
	case v1beta1.ThresholdInconclusive:
		decided = t.unknown[0]
	case v1beta1.ThresholdPassed:
		decided = t.narrowest()
	}
	if decided.step != nil {
		s.Step, s.Observed, s.WithoutGenerator, s.Reason = decided.step.Name, decided.Observed, decided.WithoutGenerator, decided.Reason
	}
	s.Message = text.Truncate(joined(t.sentence(), decided.generator()), maxMessage)
	return s
}

// generator is the sentence on the generator that decided a repetition; empty if it did not.
func (r inRepetition) generator() string {
	switch r.Reason {
	case v1beta1.ReasonLoadDisplaced, v1beta1.ReasonGeneratorUncertain:
		if g := r.step.Result.Generator; g != nil {
			return g.Message
		}
	}
	return ""
}

func (t tally) narrowest() inRepetition {
	least := t.kept[0]
	for _, r := range t.kept {
		if narrower(t.threshold, v1beta1.ThresholdStatus{Observed: r.Observed}, v1beta1.ThresholdStatus{Observed: least.Observed}) {
			least = r
		}
	}
	return least
}

// sentence says how often the threshold was kept, and what came of the other repetitions.
func (t tally) sentence() string {
	soFar, demand := "", ""
	if t.left > 0 {
		soFar = " so far"
	}
	if b, err := newBound(t.threshold); err == nil {
		demand = "; " + b.demand()
	}
	message := fmt.Sprintf("%s was kept in %d of %d repetitions of step %s%s, and must be kept in %d%s.",
		subject(t.threshold), len(t.kept), t.all, t.name(), soFar, t.required(), demand)
	if len(t.breached) > 0 {
		message += " It is " + listed(t.breached, func(r inRepetition) string {
			return fmt.Sprintf("%s in repetition %d", r.Observed, number(r.step))
		}) + "."
	}
	return message + t.undecided()
}

// undecided says of the repetitions that were not decided what is known of them, with a space
// before it.
func (t tally) undecided() (message string) {
	var uncertain, unknown []inRepetition
	for _, r := range t.unknown {
		if r.Reason == v1beta1.ReasonGeneratorUncertain && r.WithoutGenerator != "" {
			uncertain = append(uncertain, r)
		} else {
			unknown = append(unknown, r)
		}
	}
	if len(uncertain) > 0 {
		message = " It is " + listed(uncertain, func(r inRepetition) string {
			return fmt.Sprintf("%s (%s without the generator's own delay) in repetition %d", r.Observed, r.WithoutGenerator, number(r.step))
		}) + "."
	}
	if n := len(unknown); n > 0 {
		message += " It is unknown in " + map[bool]string{true: "repetition ", false: "repetitions "}[n == 1] + listed(unknown, func(r inRepetition) string { return fmt.Sprint(number(r.step)) }) + "."
	}
	return message
}

// exceptions says of the first threshold that was kept in some of the repetitions only in
// how many; empty if all were kept in all.
func (r run) exceptions() string {
	for n, t := range r.thresholds {
		for _, step := range r.status.Steps {
			if slices.ContainsFunc(step.Repeated, func(r v1beta1.RepeatedThreshold) bool {
				return int(r.Threshold) == n && r.State != v1beta1.ThresholdPassed
			}) {
				return t.Message
			}
		}
	}
	return ""
}

// name is that of the step in the first repetition.
func (t tally) name() string {
	var first *v1beta1.StepStatus
	for _, r := range slices.Concat(t.kept, t.breached, t.unknown) {
		if first == nil || r.step.Repetition < first.Repetition {
			first = r.step
		}
	}
	return first.Name
}

// number is that of a step's repetition, from 1.
func number(step *v1beta1.StepStatus) int32 { return max(1, step.Repetition) }

// maxListed is how many repetitions a sentence names.
const maxListed = 4

// listed are the repetitions in words.
func listed(list []inRepetition, word func(inRepetition) string) string {
	var words []string
	for _, r := range list[:min(len(list), maxListed)] {
		words = append(words, word(r))
	}
	if more := len(list) - maxListed; more > 0 {
		words = append(words, fmt.Sprintf("%d more", more))
	}
	if len(words) == 1 {
		return words[0]
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}
