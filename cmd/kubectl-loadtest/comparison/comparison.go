package comparison

import (
	"errors"
	"fmt"
	"math/big"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/metric"
	"github.com/loadtest-dev/loadtest-operator/controllers/figures"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/statistics"
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

// values are those of a metric in the repetitions of a step that were carried out whole,
// with a generator that was not the limit.
func (c *Comparison) values(test, column int, m metric.Metric) []*big.Rat {
	rung := c.rungs[test][column]
	if rung == nil {
		return nil
	}
	var list []*big.Rat
	for _, step := range rung.Steps {
		if !figures.IsWhole(step, c.tests[test].Status.Workers.Desired) || !figures.IsSound(step.Result) {
			continue
		}
		if value := figures.Value(figures.Quantity{Metric: m.Of}, step.Result); value != nil {
			list = append(list, value)
		}
	}
	slices.SortFunc(list, func(a, b *big.Rat) int { return a.Cmp(b) })
	return list
}

// best is the best value of a metric in a step; nil if all that have one are equal.
func (c *Comparison) best(column int, m metric.Metric) *big.Rat {
	var list []*big.Rat
	for test := range c.tests {
		if value := metric.Middle(c.values(test, column, m)); value != nil {
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
	case m.Least:
		return least
	}
	return greatest
}

// difference is how far a test differs from the first in a step: "+2.1% (-1% to +5.3%)".
// Without a range, too few repetitions tell nothing of noise.
func (c *Comparison) difference(test, column int, m metric.Metric) string {
	found, ok := statistics.Of(c.values(0, column, m), c.values(test, column, m))
	switch {
	case !ok:
		return ""
	case !found.Tested:
		return metric.Signed(found.Factor)
	}
	return fmt.Sprintf("%s (%s to %s)", metric.Signed(found.Factor), metric.Signed(found.Low), metric.Signed(found.High))
}
