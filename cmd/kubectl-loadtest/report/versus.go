package report

import (
	"fmt"
	"math/big"
	"slices"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/metric"
	"github.com/loadtest-dev/loadtest-operator/controllers/figures"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/statistics"
)

// SidesNote says what the table of both sides is of.
const SidesNote = "each the median of n pairs of steps, and by how much the candidate differs"

// Sides is a table of what was measured of both targets of a run: its heads, and a row for
// each metric of each rung; none of a run against one target. A difference without a range
// is of too few pairs to tell noise.
func Sides(lt *v1alpha1.LoadTest) (heads []string, rows [][]string) {
	v := lt.Status.Versus
	if v == nil {
		return nil, nil
	}
	for _, rung := range figures.Rungs(lt.Status.Steps) {
		for _, m := range metric.All {
			if candidate, control := pairs(&lt.Status, rung.Number, m); len(candidate) > 0 {
				rows = append(rows, []string{
					Title(rung.Steps[0]), m.Name, fmt.Sprint(len(candidate)),
					m.Text(metric.Middle(sorted(candidate))), m.Text(metric.Middle(sorted(control))), difference(control, candidate),
				})
			}
		}
	}
	return []string{"step", "metric", "n", v.Candidate, v.Control, "difference"}, rows
}

func (p *page) sides() {
	heads, rows := Sides(p.lt)
	if len(rows) == 0 {
		return
	}
	p.line("")
	p.line("Both targets, %s", SidesNote)
	p.line("")
	p.table(heads, rows)
}

// pairs are the values of a metric in the repetitions of a rung that were carried out
// whole, with a generator that was not the limit, for both targets.
func pairs(s *v1alpha1.LoadTestStatus, rung int32, m metric.Metric) (candidate, control []*big.Rat) {
	value := func(step *v1alpha1.StepStatus) *big.Rat {
		if step == nil || !figures.IsWhole(step, s.Workers.Desired) || !figures.IsSound(step.Result) {
			return nil
		}
		return figures.Value(figures.Quantity{Metric: m.Of}, step.Result)
	}
	for _, pair := range figures.Pairs(s.Steps, rung) {
		if a, b := value(pair.Candidate), value(pair.Control); a != nil && b != nil {
			candidate, control = append(candidate, a), append(control, b)
		}
	}
	return candidate, control
}

func sorted(values []*big.Rat) []*big.Rat {
	list := slices.Clone(values)
	slices.SortFunc(list, func(a, b *big.Rat) int { return a.Cmp(b) })
	return list
}

func difference(before, after []*big.Rat) string {
	found, _ := statistics.OfPairs(before, after)
	if !found.Tested || found.Low == nil || found.High == nil || found.Low.Cmp(found.High) == 0 {
		return metric.Signed(found.Factor)
	}
	return fmt.Sprintf("%s (%s to %s)", metric.Signed(found.Factor), metric.Signed(found.Low), metric.Signed(found.High))
}
