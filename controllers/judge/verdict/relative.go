package verdict

import (
	"cmp"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/changepoint"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/metric"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/rungs"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/statistics"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/baseline"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// repeats says whether a later repetition of step i is planned: what is judged from all
// of them waits for the last.
func repeats(steps []v1beta1.StepStatus, i int) bool {
	return slices.ContainsFunc(steps[i+1:], func(s v1beta1.StepStatus) bool {
		return s.Rung == steps[i].Rung
	})
}

// uncompared is why a threshold on a difference is not judged in a step, as spec.baseline.optional
// allows: the baseline has nothing to compare with there. Empty: it is judged.
func uncompared(spec *v1beta1.LoadTestSpec, status *v1beta1.LoadTestStatus, t *v1beta1.Threshold, step *v1beta1.StepStatus) string {
	b := status.Baseline
	if !t.IsRelative() || b == nil || spec.Baseline == nil || !spec.Baseline.Optional {
		return ""
	}
	if b.Missing != "" {
		return b.Missing
	}
	if _, err := newEarlier(b, baseline.Of(t), step); err != nil {
		return err.Error() + "."
	}
	return ""
}

// relative is the result of a threshold on the difference to the baseline, or to the
// control, in a step of which this is the last repetition.
//
// With at least three repetitions on both sides (or two against five), or five pairs, a
// change is beyond the bound, or within it, if package statistics is certain of that at the level of
// 5 %; else the result is Inconclusive. With fewer, the noise is not known: the change is
// judged if all pairs of repetitions agree, and the sentence says what is missing.
func relative(spec *v1beta1.LoadTestSpec, status *v1beta1.LoadTestStatus, t *v1beta1.Threshold, step *v1beta1.StepStatus) v1beta1.ThresholdStatus {
	result := pending(t)
	result.Step, result.State = step.Name, v1beta1.ThresholdInconclusive
	b, err := newBound(t)
	if err != nil {
		result.Message = fmt.Sprintf("The bound of %s cannot be read: %v.", subject(t), err)
		return result
	}
	s, err := newSides(spec, status, t, step)
	if err != nil {
		result.Message = text.Truncate(fmt.Sprintf("%s of step %s cannot be compared: %v.", subject(t), step.Name, err), maxMessage)
		if untimed := (untimedError{}); errors.As(err, &untimed) && untimed.byGenerator {
			result.Reason = v1beta1.ReasonGeneratorUncertain
		}
		return result
	}
	c, ideal := s.change(), s.ideally().change()
	result.Observed = b.signed(c.Factor)
	if without := b.signed(ideal.Factor); without != result.Observed {
		result.WithoutGenerator = without
	}
	answer := b.allows(c)
	if ideally := b.allows(ideal); ideally != answer {
		reason, without := s.between(t)
		result.Reason = reason
		result.Message = text.Truncate(fmt.Sprintf("%s Without %s, the change is %s, so this decides.",
			s.sentence(t, b, c, answer), without, b.signed(ideal.Factor)), maxMessage)
		return result
	}
	if apart, sentence := s.apart(b); answer != statistics.Unsure && b.allows(apart) != answer {
		result.Reason = v1beta1.ReasonGeneratorUncertain
		result.Message = text.Truncate(s.sentence(t, b, c, answer)+sentence, maxMessage)
		return result
	}
	if longer := s.withUntimed().change(); answer != statistics.Unsure && b.allows(longer) != answer {
		result.Message = text.Truncate(fmt.Sprintf("%s If the requests that were not sent or not answered had taken longer than all others, the change would be %s, so these decide.",
			s.sentence(t, b, c, answer), b.signed(longer.Factor)), maxMessage)
		return result
	}
	switch answer {
	case statistics.Yes:
		result.State = v1beta1.ThresholdPassed
	case statistics.No:
		result.State = v1beta1.ThresholdFailed
	}
	result.Message = text.Truncate(s.sentence(t, b, c, answer), maxMessage)
	return result
}

// sides are the values of a metric in all repetitions of a step, and in those of the
// baseline's or the control's.
type sides struct {
	// step is the judged step, of the target that is called so, if there are two; and other
	// is what it is compared with.
	step, of, other string
	before, after   []*big.Rat
	// idealBefore and idealAfter are the same without the generator's own delay, and without
	// what is undecided.
	idealBefore, idealAfter []*big.Rat
	// longBefore and longAfter are the same if requests without a time had taken longer than all others.
	longBefore, longAfter []*big.Rat
	// lateBefore and lateAfter are by how much longer times may be since late requests came to
	// the target together.
	lateBefore, lateAfter []*big.Rat
	// undecided is how many requests of this run were, and generators how many failed by the
	// generator's doing.
	undecided, generators int64
	// runs says that before are those of runs, of which each counts once.
	runs bool
	// paired says that the values of both sides are those of the same repetitions.
	paired bool
}

// ideally are the sides without the generator's own delay.
func (s sides) ideally() sides {
	s.before, s.after = s.idealBefore, s.idealAfter
	return s
}

// withUntimed are the sides if requests without a time had taken longer than all others.
func (s sides) withUntimed() sides {
	s.before, s.after = s.longBefore, s.longAfter
	return s
}

// apart is the change if the requests of the side that were sent later had come to the target
// no more together than those of the other, and the sentence that says so. What both sides have
// alike is no difference between them.
func (s sides) apart(b bound) (statistics.Change, string) {
	more := new(big.Rat).Sub(statistics.Middle(s.lateAfter), statistics.Middle(s.lateBefore))
	apart, whose, others := s.ideally(), cmp.Or(s.of, "this run"), s.other
	if more.Sign() >= 0 {
		apart.after = shorter(apart.after, more)
	} else {
		apart.before, whose, others = shorter(apart.before, more.Neg(more)), others, whose
	}
	c := apart.change()
	return c, fmt.Sprintf(" Requests of %s were up to %s later than requests of %s, reached the target together, and may have waited for one another: without that, the change is %s.",
		whose, bound{unit: metric.Latency, isMax: true}.format(more), others, b.signed(c.Factor))
}

// shorter are the values less a time, and none below 0.
func shorter(values []*big.Rat, by *big.Rat) []*big.Rat {
	var list []*big.Rat
	for _, v := range values {
		less := new(big.Rat).Sub(v, by)
		if less.Sign() < 0 {
			less.SetInt64(0)
		}
		list = append(list, less)
	}
	return list
}

// between is what the ends of the bracket differ by.
func (s sides) between(t *v1beta1.Threshold) (reason, what string) {
	if t.Metric == v1beta1.MetricFailureRate && s.undecided > 0 {
		return "", "failures that the generator caused, and undecided requests"
	}
	if s.generators > 0 {
		return v1beta1.ReasonGeneratorUncertain, "failures that the generator caused, and its own delay"
	}
	return v1beta1.ReasonGeneratorUncertain, "the generator's own delay"
}

func (s sides) change() statistics.Change {
	compare := statistics.Of
	if s.paired {
		compare = statistics.OfPairs
	}
	c, _ := compare(s.before, s.after)
	return c
}

func newSides(spec *v1beta1.LoadTestSpec, status *v1beta1.LoadTestStatus, t *v1beta1.Threshold, step *v1beta1.StepStatus) (sides, error) {
	if status.Versus != nil {
		return newPairs(spec, status, t, step)
	}
	return newRepetitions(status, t, step)
}

func newRepetitions(status *v1beta1.LoadTestStatus, t *v1beta1.Threshold, step *v1beta1.StepStatus) (sides, error) {
	if status.Baseline == nil {
		return sides{}, fmt.Errorf("the status has no figures of the baseline")
	}
	q := baseline.Of(t)
	s, err := newEarlier(status.Baseline, q, step)
	if err != nil {
		return s, err
	}
	for i := range status.Steps {
		ours := &status.Steps[i]
		if ours.Rung != step.Rung || !rungs.IsWhole(ours, status.Workers.Desired) || !rungs.IsSound(ours.Result) {
			continue
		}
		if err := unknownIn(ours, q); err != nil {
			return s, err
		}
		s.addAfter(q, ours.Result)
	}
	if len(s.after) == 0 {
		return s, fmt.Errorf("it did not run with all workers and the planned load")
	}
	s.roundAfter(q.Metric)
	if s.runs {
		s.countOnce()
	}
	return s, nil
}

// roundAfter rounds the values of this run as the figures of the other are: else a share that is no
// decimal fraction would differ from itself.
func (s *sides) roundAfter(name v1beta1.Metric) {
	for _, list := range [][]*big.Rat{s.after, s.idealAfter, s.longAfter, s.lateAfter} {
		for i := range list {
			list[i] = valueOf(name, metric.Text(name, list[i]))
		}
	}
}

// newEarlier has the values of what a run is compared with: the repetitions of a LoadTest, or the
// runs that are of the level of a schedule. It is an error if there are none.
func newEarlier(b *v1beta1.BaselineStatus, q metric.Quantity, step *v1beta1.StepStatus) (sides, error) {
	s := sides{step: step.Name, other: "LoadTest " + b.Name, runs: b.Schedule != ""}
	since := ""
	for i := range b.Steps {
		earlier := &b.Steps[i]
		if earlier.Rung != step.Rung {
			continue
		}
		f := figureIn(earlier.Figures, q)
		switch {
		case f == nil && s.runs:
			continue // it is of an earlier level
		case f == nil:
			why := withoutFigure(q)
			if metric.Of(q.Metric).Times().Quantile > 0 {
				why += ", or too many requests that were not sent or not answered"
			}
			return s, fmt.Errorf("%s has no such figure in its step %s: %s", s.other, earlier.Name, why)
		}
		since = cmp.Or(since, earlier.Run)
		s.before = append(s.before, valueOf(f.Metric, f.Value))
		s.idealBefore = append(s.idealBefore, valueOf(f.Metric, cmp.Or(f.WithoutGenerator, f.Value)))
		s.longBefore = append(s.longBefore, valueOf(f.Metric, cmp.Or(f.WithUntimed, f.Value)))
		s.lateBefore = append(s.lateBefore, valueOf(f.Metric, f.LateTogether))
	}
	switch {
	case len(s.before) == 0 && s.runs:
		return s, fmt.Errorf("fewer than %d LoadTests of schedule %s that passed have such a figure in a step of that name and load; let it keep more (spec.successfulRunsHistoryLimit)", changepoint.LeastRuns, b.Schedule)
	case len(s.before) == 0:
		return s, fmt.Errorf("%s has no step of that name and load that ran with all workers and the planned load, and in which the target worked well enough to compare", s.other)
	case s.runs:
		s.other = fmt.Sprintf("the level of schedule %s (%s since %s)", b.Schedule, text.Plural(int64(len(s.before)), "run"), since)
	}
	return s, nil
}

// countOnce keeps the repetition in the middle: a run is one of the runs with whose level it is
// compared.
func (s *sides) countOnce() {
	order := make([]int, len(s.after))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return s.after[a].Cmp(s.after[b]) })
	i := order[(len(order)-1)/2]
	s.after, s.idealAfter, s.longAfter, s.lateAfter = s.after[i:i+1], s.idealAfter[i:i+1], s.longAfter[i:i+1], s.lateAfter[i:i+1]
}

// untimedError is that so many requests have no time that a quantile is not known.
type untimedError struct {
	message     string
	byGenerator bool // that it is not known; the target's alone would be few enough
}

func (e untimedError) Error() string { return e.message }

// unknownIn is why a step has no figure of a quantity to compare; nil: it has one.
func unknownIn(step *v1beta1.StepStatus, q metric.Quantity) error {
	if metric.Value(q, step.Result) == nil {
		return fmt.Errorf("step %s has no such figure: %s", step.Name, withoutFigure(q))
	}
	u := metric.UntimedOf(q, step.Result)
	if !u.Decide(q.Metric, u.Missing) {
		return nil
	}
	e := untimedError{message: fmt.Sprintf("in step %s %d of the %d requests that were due were not sent or not answered, which is too many for %s", step.Name, u.Missing, u.Due, q.Metric)}
	if e.byGenerator = !u.Decide(q.Metric, u.Missing-u.ByGenerator); e.byGenerator {
		e.message += fmt.Sprintf(": the generator may have left %d unsent", u.ByGenerator)
	}
	return e
}

// withoutFigure is why a step has no figure of a quantity.
func withoutFigure(q metric.Quantity) string {
	if q.Request != "" {
		return "it had too few samples of request " + q.Request + ", or no room for its result"
	}
	return "it had too few samples"
}

// addAfter adds the values of a step of the judged target.
func (s *sides) addAfter(q metric.Quantity, r *v1beta1.StepResult) {
	s.after, s.idealAfter = append(s.after, metric.Value(q, r)), append(s.idealAfter, metric.Ideal(q, r))
	s.longAfter = append(s.longAfter, metric.WithUntimed(q, r))
	s.lateAfter, s.undecided = append(s.lateAfter, metric.LateTogether(q, r)), s.undecided+r.Undecided
	s.generators += metric.FailedByGenerator(r)
}

// addBefore adds the values of a step of the control.
func (s *sides) addBefore(q metric.Quantity, r *v1beta1.StepResult) {
	s.before, s.idealBefore = append(s.before, metric.Value(q, r)), append(s.idealBefore, metric.Ideal(q, r))
	s.longBefore = append(s.longBefore, metric.WithUntimed(q, r))
	s.lateBefore, s.undecided = append(s.lateBefore, metric.LateTogether(q, r)), s.undecided+r.Undecided
	s.generators += metric.FailedByGenerator(r)
}

// figureIn is the figure of a quantity; nil: there is none.
func figureIn(list []v1beta1.Figure, q metric.Quantity) *v1beta1.Figure {
	i := slices.IndexFunc(list, func(f v1beta1.Figure) bool {
		return f.Metric == q.Metric && f.Type == q.Type && f.Request == q.Request
	})
	if i < 0 || valueOf(q.Metric, list[i].Value) == nil {
		return nil
	}
	return &list[i]
}

// valueOf is a value as a status has it; 0: there is none.
func valueOf(name v1beta1.Metric, text string) *big.Rat {
	if text == "" {
		return new(big.Rat)
	}
	value, _ := metric.Parse(name, text)
	return value
}

// sentence says what was found, what is allowed, and how certain that is.
func (s sides) sentence(t *v1beta1.Threshold, b bound, c statistics.Change, answer statistics.Answer) string {
	values := bound{unit: metric.Of(t.Metric).Unit, isMax: true}
	of := subject(t)
	if s.of != "" {
		of += " of " + s.of
	}
	after, before := statistics.Median(s.after), statistics.Median(s.before)
	found := fmt.Sprintf("%s is %s in step %s, %s%s the %s of %s; %s.",
		of, values.format(after), s.step, s.by(b, c, after, before), b.words(c.Factor), values.format(before), s.other, b.demand())
	scope, needed := fmt.Sprintf("%s and %d of the baseline", text.Plural(int64(len(s.after)), "repetition"), len(s.before)), "3 repetitions of both"
	if s.paired {
		scope, needed = text.Plural(int64(len(s.after)), "repetition"), "5 repetitions"
	}
	if s.runs {
		return found + s.certainty(b, c, answer)
	}
	between := fmt.Sprintf("between %s and %s", b.signed(c.Low), b.signed(c.High))
	switch {
	case answer == statistics.Unsure && c.Tested:
		return fmt.Sprintf("%s Over %s, the change may be anything %s: use more repetitions.", found, scope, between)
	case c.Tested:
		return fmt.Sprintf("%s Over %s, the change is %s.", found, scope, between)
	case answer == statistics.Unsure:
		return fmt.Sprintf("%s Over the pairs of %s, the change is %s: use at least %s.", found, scope, between, needed)
	}
	return fmt.Sprintf("%s How much of that is noise cannot be told from %s: use at least %s.", found, scope, needed)
}

// by says how a change is estimated, where it is not that from one of the figures beside it to the
// other; with a space behind it.
func (s sides) by(b bound, c statistics.Change, after, before *big.Rat) string {
	switch one, _ := statistics.Of([]*big.Rat{before}, []*big.Rat{after}); {
	case b.words(one.Factor) == b.words(c.Factor):
		return ""
	case s.runs:
		return "by the median of all runs "
	case s.paired:
		return "by the estimate from all pairs of repetitions " // no median of theirs, but of means of two
	}
	return "by the median of all pairs of repetitions "
}

// runsNeeded is how many runs of a level it takes until a bound of a change is wrong in at most 5 %
// of comparisons with one run.
const runsNeeded = 19

// certainty says how certain a difference to a level is.
func (s sides) certainty(b bound, c statistics.Change, answer statistics.Answer) string {
	between := fmt.Sprintf("between %s and %s", b.signed(c.Low), b.signed(c.High))
	switch {
	case answer == statistics.Unsure && c.Tested:
		return fmt.Sprintf(" As far as the runs of the level differ, the change may be anything %s.", between)
	case c.Tested:
		return fmt.Sprintf(" As far as the runs of the level differ, the change is %s.", between)
	case answer == statistics.Unsure:
		return fmt.Sprintf(" To the runs of the level, the change is %s: let the schedule keep at least %d that passed.", between, runsNeeded)
	}
	return fmt.Sprintf(" How much of that is noise cannot be told from %s: let the schedule keep at least %d that passed.", text.Plural(int64(len(s.before)), "run"), runsNeeded)
}

// allows says whether a change keeps the bound, whose limit is in percent.
func (b bound) allows(c statistics.Change) statistics.Answer {
	factor := new(big.Rat).Quo(b.limit, big.NewRat(100, 1))
	factor.Add(factor, big.NewRat(1, 1))
	if b.isMax {
		return c.AtMost(factor)
	}
	return c.AtLeast(factor)
}

// noPercentage is a change from 0 to something.
const noPercentage = "beyond any percentage"

// signed is a change as a value: "+20.63%".
func (b bound) signed(factor *big.Rat) string {
	if factor == nil {
		return noPercentage
	}
	value := b.format(statistics.Percent(factor))
	if factor.Cmp(big.NewRat(1, 1)) > 0 {
		return "+" + value
	}
	return value
}

// words is a change as a part of a sentence.
func (b bound) words(factor *big.Rat) string {
	if factor == nil {
		return noPercentage + " above"
	}
	value := strings.TrimPrefix(b.format(statistics.Percent(factor)), "-")
	switch factor.Cmp(big.NewRat(1, 1)) {
	case 1:
		return value + " above"
	case -1:
		return value + " below"
	}
	return "as much as"
}
