package report

import (
	"fmt"
	"math/big"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/metric"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/rungs"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/statistics"
)

// SidesNote says what the table of both sides is of.
const SidesNote = "each the median of n pairs of steps, and the median difference of the candidate within a pair"

// Sides is a table of what was measured of both targets of a run: its heads, and a row for
// each metric of each rung; none of a run against one target. A difference without a range
// is of too few pairs to tell noise.
func Sides(lt *v1beta1.LoadTest) (heads []string, rows [][]string) {
	v := lt.Status.Versus
	if v == nil {
		return nil, nil
	}
	for _, rung := range rungs.Of(lt.Status.Steps) {
		for _, m := range metric.Titled() {
			if candidate, control := pairs(&lt.Status, rung.Number, m); len(candidate) > 0 {
				rows = append(rows, []string{
					Title(rung.Steps[0]), m.Title, fmt.Sprint(len(candidate)),
					m.Unit.Short(statistics.Median(candidate)), m.Unit.Short(statistics.Median(control)), difference(control, candidate),
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
func pairs(s *v1beta1.LoadTestStatus, rung int32, m metric.Metric) (candidate, control []*big.Rat) {
	value := func(step *v1beta1.StepStatus) *big.Rat {
		if step == nil || !rungs.IsWhole(step, s.Workers.Desired) || !rungs.IsSound(step.Result) {
			return nil
		}
		return metric.Value(metric.Quantity{Metric: m.Name}, step.Result)
	}
	for _, pair := range rungs.Pairs(s.Steps, rung) {
		if a, b := value(pair.Candidate), value(pair.Control); a != nil && b != nil {
			candidate, control = append(candidate, a), append(control, b)
		}
	}
	return candidate, control
}

func difference(before, after []*big.Rat) string {
	found, _ := statistics.OfPairs(before, after)
	if !found.Tested || found.Low == nil || found.High == nil || found.Low.Cmp(found.High) == 0 {
		return Signed(found.Factor)
	}
	return fmt.Sprintf("%s (%s to %s)", Signed(found.Factor), Signed(found.Low), Signed(found.High))
}

// Signed is a factor as a change in percent.
func Signed(factor *big.Rat) string {
	if factor == nil {
		return "from 0"
	}
	value, _ := statistics.Percent(factor).Float64()
	said := fmt.Sprintf("%+.1f%%", value)
	if said == "-0.0%" || said == "+0.0%" {
		return "0%"
	}
	return said
}
