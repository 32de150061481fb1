package decision

import (
	"fmt"
	"math"
	"math/big"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/controllers/figures"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/results"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/statistics"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// shown are percentiles, as figures in microseconds. The first for which a step has
// enough samples is shown.
var shown = []v1alpha1.Metric{"p99", "p95", "p50"}

// Trend is a percentile of a LoadTest's last step, and how far it is from the baseline:
// "p99 41ms, +3%". It is empty if nothing was measured.
func Trend(lt *v1alpha1.LoadTest) string {
	rungs := figures.Rungs(results.CompleteSteps(&lt.Status))
	for i := range rungs {
		rung := &rungs[len(rungs)-1-i]
		for _, metric := range shown {
			if now := measured(rung, metric); len(now) > 0 {
				return sentence(metric, now, before(lt.Status.Baseline, rung.Number, metric))
			}
		}
	}
	return ""
}

// measured are the values of a metric in the repetitions of a step.
func measured(rung *figures.Rung, metric v1alpha1.Metric) []*big.Rat {
	var list []*big.Rat
	for _, step := range rung.Steps {
		if step.Result == nil {
			continue
		}
		if v := figures.Value(figures.Quantity{Metric: metric}, step.Result); v != nil {
			list = append(list, v)
		}
	}
	return list
}

// before are those of the baseline.
func before(b *v1alpha1.BaselineStatus, rung int32, metric v1alpha1.Metric) []*big.Rat {
	var list []*big.Rat
	for i := 0; b != nil && i < len(b.Steps); i++ {
		for _, f := range b.Steps[i].Figures {
			if b.Steps[i].Rung != rung || f.Metric != metric || f.Type != "" {
				continue
			}
			if v, err := figures.Parse(metric, f.Value); err == nil {
				list = append(list, v)
			}
		}
	}
	return list
}

func sentence(metric v1alpha1.Metric, now, before []*big.Rat) string {
	middle, _ := statistics.Of([]*big.Rat{big.NewRat(1, 1)}, now) // its median
	microseconds, _ := middle.Factor.Float64()
	said := fmt.Sprintf("%s %s", metric, text.Short(time.Duration(microseconds*float64(time.Microsecond))))
	by, ok := statistics.Of(before, now)
	if !ok || by.Factor == nil {
		return said
	}
	percent, _ := new(big.Rat).Mul(new(big.Rat).Sub(by.Factor, big.NewRat(1, 1)), big.NewRat(100, 1)).Float64()
	return fmt.Sprintf("%s, %+d%%", said, int(math.Round(percent)))
}
