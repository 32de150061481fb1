package metric

import (
	"fmt"
	"math/big"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// Metric is a line of a table.
type Metric struct {
	Of   v1alpha1.Metric
	Name string
	// Least says that the least value is the best, not the greatest.
	Least bool
	Text  func(*big.Rat) string
}

// All are the metrics in the order of their lines.
var All = []Metric{
	{"p50", "P50", true, latency},
	{"p95", "P95", true, latency},
	{"p99", "P99", true, latency},
	{v1alpha1.MetricFailureRate, "Requests failed", true, percent},
	{v1alpha1.MetricUnsentRate, "Requests unsent", true, percent},
	{v1alpha1.MetricGoodput, "Goodput", false, rate},
}

func latency(micros *big.Rat) string {
	whole, _ := micros.Float64()
	return text.Short(time.Duration(whole * float64(time.Microsecond)))
}

func percent(share *big.Rat) string {
	return text.Percent(share.Num().Int64(), share.Denom().Int64()*100)
}

func rate(perSecond *big.Rat) string { return text.Rate(perSecond.FloatString(1)) }

// Middle is the median, of an even number the lower of the two in the middle; nil: there
// is none.
func Middle(sorted []*big.Rat) *big.Rat {
	if len(sorted) == 0 {
		return nil
	}
	return sorted[(len(sorted)-1)/2]
}

// Signed is a factor as a change in percent.
func Signed(factor *big.Rat) string {
	if factor == nil {
		return "from 0"
	}
	above := new(big.Rat).Sub(factor, big.NewRat(1, 1))
	value, _ := above.Mul(above, big.NewRat(100, 1)).Float64()
	said := fmt.Sprintf("%+.1f%%", value)
	if said == "-0.0%" || said == "+0.0%" {
		return "0%"
	}
	return said
}
