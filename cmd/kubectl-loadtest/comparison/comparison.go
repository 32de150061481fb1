package comparison

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/metric"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/rungs"
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
	// differences are all that are shown, in the order of the tables.
	differences []Difference
	places      map[place]int
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
		if len(lt.Status.Loads) > 0 {
			return nil, fmt.Errorf("LoadTest %s sends several loads, and each has steps of its own: compare the LoadTests of its loads, such as %s; from a file that has all of them, report -f FILE %[2]s -o yaml writes one", c.names[i], lt.Status.Loads[0].Test)
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
	c.differences, c.places = c.compared(), map[place]int{}
	for i := range c.differences {
		c.places[c.differences[i].place] = i
	}
	return c, nil
}

// names names each test. Where two of different namespaces have the same name, the namespace stands before it; where
// two still have the same, as files may, they are numbered.
func names(tests []*v1beta1.LoadTest) []string {
	var list []string
	for _, lt := range tests {
		called := lt.Name
		if slices.ContainsFunc(tests, func(o *v1beta1.LoadTest) bool { return o.Name == lt.Name && o.Namespace != lt.Namespace }) {
			called = strings.TrimPrefix(lt.Namespace+"/"+lt.Name, "/") // that of a file may be empty
		}
		name := called
		for n := 2; slices.Contains(list, name); n++ {
			name = fmt.Sprintf("%s (%d)", called, n)
		}
		list = append(list, name)
	}
	return list
}

// Names tell the tests apart, in their order.
func (c *Comparison) Names() []string { return slices.Clone(c.names) }

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
	var list []*big.Rat
	for _, r := range c.results(test, column, q) {
		list = append(list, metric.Value(q, r))
	}
	return list
}

// results are the results of the repetitions in which the quantity was measured.
func (c *Comparison) results(test, column int, q metric.Quantity) []*v1beta1.StepResult {
	rung := c.rungs[test][column]
	if rung == nil {
		return nil
	}
	var list []*v1beta1.StepResult
	for _, step := range rung.Steps {
		if rungs.IsWhole(step, c.tests[test].Status.Workers.Desired) && rungs.IsSound(step.Result) && metric.Value(q, step.Result) != nil {
			list = append(list, step.Result)
		}
	}
	return list
}
