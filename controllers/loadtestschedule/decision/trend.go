package decision

import (
	"fmt"
	"math"
	"math/big"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/metric"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/results"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/rungs"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/statistics"
)

// shown are percentiles, as figures in microseconds. The first for which a step has
// enough samples is shown.
var shown = []v1beta1.Metric{"p99", "p95", "p50"}

// Trend is a percentile of a LoadTest's last step, and how far it is from the baseline:
// "p99 41ms, +3%". It is empty if nothing was measured.
func Trend(lt *v1beta1.LoadTest) string {
	all := rungsOf(lt)
	for i := range all {
		rung := &all[len(all)-1-i]
		for _, name := range shown {
			if now := measured(rung, name); len(now) > 0 {
				return sentence(name, now, before(lt.Status.Baseline, rung.Number, name))
			}
		}
	}
	return ""
}

// rungsOf are the rungs of a LoadTest; what is incomplete has no result. Loads are one rung, of all requests together: none
// if one of them did not go to its end, or is not among them.
func rungsOf(lt *v1beta1.LoadTest) []rungs.Rung {
	if len(lt.Status.Loads) == 0 {
		return rungs.Of(results.CompleteSteps(&lt.Status))
	}
	together := lt.Status.Together
	course := meta.FindStatusCondition(lt.Status.Conditions, v1beta1.ConditionCarriedOut)
	if together == nil || course == nil || course.Reason != v1beta1.ReasonAllStepsRan || len(lt.Status.LackingLoads()) > 0 {
		return nil
	}
	return []rungs.Rung{{Steps: []*v1beta1.StepStatus{{Result: &v1beta1.StepResult{ResponseTime: together.ResponseTime}}}}}
}

// measured are the values of a metric in the repetitions of a step.
func measured(rung *rungs.Rung, name v1beta1.Metric) []*big.Rat {
	var list []*big.Rat
	for _, step := range rung.Steps {
		if step.Result == nil {
			continue
		}
		if v := metric.Value(metric.Quantity{Metric: name}, step.Result); v != nil {
			list = append(list, v)
		}
	}
	return list
}

// before are those of the baseline.
func before(b *v1beta1.BaselineStatus, rung int32, name v1beta1.Metric) []*big.Rat {
	var list []*big.Rat
	for i := 0; b != nil && i < len(b.Steps); i++ {
		for _, f := range b.Steps[i].Figures {
			if b.Steps[i].Rung != rung || f.Metric != name || f.Type+f.Request != "" {
				continue
			}
			if v, err := metric.Parse(name, f.Value); err == nil {
				list = append(list, v)
			}
		}
	}
	return list
}

func sentence(name v1beta1.Metric, now, before []*big.Rat) string {
	middle, _ := statistics.Of([]*big.Rat{big.NewRat(1, 1)}, now) // its median
	said := fmt.Sprintf("%s %s", name, metric.Of(name).Unit.Short(middle.Factor))
	by, ok := statistics.Of(before, now)
	if !ok || by.Factor == nil {
		return said
	}
	percent, _ := statistics.Percent(by.Factor).Float64()
	return fmt.Sprintf("%s, %+d%%", said, int(math.Round(percent)))
}
