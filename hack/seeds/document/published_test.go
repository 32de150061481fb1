package document

import (
	"slices"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/hack/seeds/expect"
	"github.com/loadtest-dev/loadtest-operator/hack/seeds/experiment"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// What was published is beside every load test that runs, and whatever is said to be
// hidden is shown by an expectation of the same seed.
func TestPublishedFiguresAreBesideEveryTest(t *testing.T) {
	for _, seed := range experiment.Seeds() {
		p, err := read(seed)
		must.Succeed(t, err)
		run := map[string]bool{}
		for _, e := range experiment.Of(seed) {
			for _, test := range e.Tests {
				run[e.Name+"/"+test] = false
			}
		}
		for _, table := range p.Tables {
			key := table.Experiment + "/" + table.Test
			if done, ok := run[key]; !ok || done {
				t.Errorf("seed %s: a table is of %s, which does not run or has one already", seed, key)
			}
			run[key] = true
			for _, row := range table.Rows {
				if len(row) != len(table.Heads) {
					t.Errorf("seed %s, %s: row %v has not the columns %v", seed, table.Title, row, table.Heads)
				}
			}
		}
		for key, done := range run {
			if !done {
				t.Errorf("seed %s: no table is beside %s", seed, key)
			}
		}
		expectations := expect.All(seed)
		for _, h := range p.Hides {
			for _, name := range h.Shown {
				if !slices.ContainsFunc(expectations, func(e expect.Expectation) bool { return e.Name == name }) {
					t.Errorf("seed %s: nothing expects %s", seed, name)
				}
			}
			if len(h.Shown) == 0 {
				t.Errorf("seed %s: nothing shows %q", seed, h.Claim)
			}
		}
	}
}
