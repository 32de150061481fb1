package comparison

import (
	"errors"
	"fmt"
	"math/big"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/metric"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/rungs"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/statistics"
)

// Comparison is of two finished LoadTests or more.
type Comparison struct {
	tests []*v1beta1.LoadTest
	// names tell the tests apart.
	names []string
	// columns are the steps of all tests, each once.
	columns []rungs.Rung
	// rungs are those of each test by column; nil: it has none.
	rungs [][]*rungs.Rung
}

// New compares tests, the first of which is what the others are compared with.
func New(tests []*v1beta1.LoadTest) (*Comparison, error) {
	if len(tests) < 2 {
		return nil, errors.New("give at least two LoadTests; the others are compared with the first")
	}
	c := &Comparison{tests: tests, names: names(tests)}
	for i, lt := range tests {
		if !meta.IsStatusConditionTrue(lt.Status.Conditions, v1beta1.ConditionFinished) {
			return nil, fmt.Errorf("LoadTest %s has not finished", c.names[i])
		}
		for _, rung := range rungs.Of(lt.Status.Steps) {
			if rungs.Find(c.columns, &rung) == nil {
				c.columns = append(c.columns, rung)
			}
		}
	}
	for _, lt := range tests {
		theirs := rungs.Of(lt.Status.Steps)
		row := make([]*rungs.Rung, len(c.columns))
		for i := range c.columns {
			row[i] = rungs.Find(theirs, &c.columns[i])
		}
		c.rungs = append(c.rungs, row)
	}
	return c, nil
}

// names are those of the tests, numbered where two have the same, as files may.
func names(tests []*v1beta1.LoadTest) []string {
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

// requests are the names of the requests of all tests, each once; none if no test has several.
func (c *Comparison) requests() []string {
	var names []string
	for _, lt := range c.tests {
		for _, r := range lt.Status.Requests {
			if len(lt.Status.Requests) > 1 && !slices.Contains(names, r.Name) {
				names = append(names, r.Name)
			}
		}
	}
	return names
}

// values are those of a quantity in the repetitions of a step that were carried out whole,
// with a generator that was not the limit.
func (c *Comparison) values(test, column int, q metric.Quantity) []*big.Rat {
	rung := c.rungs[test][column]
	if rung == nil {
		return nil
	}
	var list []*big.Rat
	for _, step := range rung.Steps {
		if !rungs.IsWhole(step, c.tests[test].Status.Workers.Desired) || !rungs.IsSound(step.Result) {
			continue
		}
		if value := metric.Value(q, step.Result); value != nil {
			list = append(list, value)
		}
	}
	return list
}

// best is the best value of a quantity in a step; nil if all that have one are equal.
func (c *Comparison) best(column int, q metric.Quantity) *big.Rat {
	var list []*big.Rat
	for test := range c.tests {
		if value := statistics.Middle(c.values(test, column, q)); value != nil {
			list = append(list, value)
		}
	}
	if len(list) == 0 {
		return nil
	}
	least, greatest := slices.MinFunc(list, (*big.Rat).Cmp), slices.MaxFunc(list, (*big.Rat).Cmp)
	switch {
	case least.Cmp(greatest) == 0:
		return nil
	case metric.Of(q.Metric).LowerIsBetter:
		return least
	}
	return greatest
}

// difference is how far a test differs from the first in a step: "+2.1% (-1% to +5.3%)".
// Without a range, too few repetitions tell nothing of noise.
func (c *Comparison) difference(test, column int, q metric.Quantity) string {
	found, ok := statistics.Of(c.values(0, column, q), c.values(test, column, q))
	switch {
	case !ok:
		return ""
	case !found.Tested:
		return report.Signed(found.Factor)
	}
	return fmt.Sprintf("%s (%s to %s)", report.Signed(found.Factor), report.Signed(found.Low), report.Signed(found.High))
}
