package comparison

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/controllers/change"
	"github.com/loadtest-dev/loadtest-operator/controllers/figures"
	"github.com/loadtest-dev/loadtest-operator/controllers/format"
)

// Comparison is of two finished LoadTests or more.
type Comparison struct {
	tests []*v1alpha1.LoadTest
	// names tell the tests apart.
	names []string
	// columns are the steps of all tests, each once.
	columns []figures.Rung
	// rungs are those of each test by column; nil: it has none.
	rungs [][]*figures.Rung
}

// New compares tests, the first of which is what the others are compared with.
func New(tests []*v1alpha1.LoadTest) (*Comparison, error) {
	if len(tests) < 2 {
		return nil, errors.New("give at least two LoadTests, the first of which is what the others are compared with")
	}
	c := &Comparison{tests: tests, names: names(tests)}
	for i, lt := range tests {
		if !meta.IsStatusConditionTrue(lt.Status.Conditions, v1alpha1.ConditionFinished) {
			return nil, fmt.Errorf("LoadTest %s has not finished", c.names[i])
		}
		for _, rung := range figures.Rungs(lt.Status.Steps) {
			if figures.Find(c.columns, &rung) == nil {
				c.columns = append(c.columns, rung)
			}
		}
	}
	for _, lt := range tests {
		theirs := figures.Rungs(lt.Status.Steps)
		row := make([]*figures.Rung, len(c.columns))
		for i := range c.columns {
			row[i] = figures.Find(theirs, &c.columns[i])
		}
		c.rungs = append(c.rungs, row)
	}
	return c, nil
}

// names are those of the tests, numbered where two have the same, as files may.
func names(tests []*v1alpha1.LoadTest) []string {
	var list []string
	for _, lt := range tests {
		name := lt.Name
		for n := 2; slices.Contains(list, name); n++ {
			name = fmt.Sprintf("%s (%d)", lt.Name, n)
		}
		list = append(list, name)
	}
	return list
}

// metric is a line of the table.
type metric struct {
	of   v1alpha1.Metric
	name string
	// least says that the least value is the best, not the greatest.
	least bool
	text  func(*big.Rat) string
}

var metrics = []metric{
	{"p50", "P50", true, latency},
	{"p95", "P95", true, latency},
	{"p99", "P99", true, latency},
	{v1alpha1.MetricFailureRate, "Requests failed", true, percent},
	{v1alpha1.MetricUnsentRate, "Requests unsent", true, percent},
	{v1alpha1.MetricGoodput, "Goodput", false, rate},
}

func latency(micros *big.Rat) string {
	whole, _ := micros.Float64()
	return format.Short(time.Duration(whole * float64(time.Microsecond)))
}

func percent(share *big.Rat) string {
	return format.Percent(share.Num().Int64(), share.Denom().Int64()*100)
}

func rate(perSecond *big.Rat) string { return format.Rate(perSecond.FloatString(1)) }

// values are those of a metric in the repetitions of a step that were carried out whole,
// with a generator that was not the limit.
func (c *Comparison) values(test, column int, m metric) []*big.Rat {
	rung := c.rungs[test][column]
	if rung == nil {
		return nil
	}
	var list []*big.Rat
	for _, step := range rung.Steps {
		if !figures.IsWhole(step, c.tests[test].Status.Workers.Desired) || !figures.IsSound(step.Result) {
			continue
		}
		if value := figures.Value(figures.Quantity{Metric: m.of}, step.Result); value != nil {
			list = append(list, value)
		}
	}
	slices.SortFunc(list, func(a, b *big.Rat) int { return a.Cmp(b) })
	return list
}

// middle is the median, of an even number the lower of the two in the middle; nil: there
// is none.
func middle(sorted []*big.Rat) *big.Rat {
	if len(sorted) == 0 {
		return nil
	}
	return sorted[(len(sorted)-1)/2]
}

// best is the best value of a metric in a step; nil if all that have one are equal.
func (c *Comparison) best(column int, m metric) *big.Rat {
	var list []*big.Rat
	for test := range c.tests {
		if value := middle(c.values(test, column, m)); value != nil {
			list = append(list, value)
		}
	}
	if len(list) == 0 {
		return nil
	}
	slices.SortFunc(list, func(a, b *big.Rat) int { return a.Cmp(b) })
	least, greatest := list[0], list[len(list)-1]
	switch {
	case least.Cmp(greatest) == 0:
		return nil
	case m.least:
		return least
	}
	return greatest
}

// difference is how far a test differs from the first in a step: "+2.1% (-1% to +5.3%)".
// Without a range, too few repetitions tell nothing of noise.
func (c *Comparison) difference(test, column int, m metric) string {
	found, ok := change.Of(c.values(0, column, m), c.values(test, column, m))
	switch {
	case !ok:
		return ""
	case !found.Tested:
		return signed(found.Factor)
	}
	return fmt.Sprintf("%s (%s to %s)", signed(found.Factor), signed(found.Low), signed(found.High))
}

// signed is a factor as a change in percent.
func signed(factor *big.Rat) string {
	if factor == nil {
		return "from 0"
	}
	above := new(big.Rat).Sub(factor, big.NewRat(1, 1))
	value, _ := above.Mul(above, big.NewRat(100, 1)).Float64()
	text := fmt.Sprintf("%+.1f%%", value)
	if text == "-0.0%" || text == "+0.0%" {
		return "0%"
	}
	return text
}
