package document

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/hack/seeds/expect"
	"github.com/loadtest-dev/loadtest-operator/hack/seeds/experiment"
	"github.com/loadtest-dev/loadtest-operator/hack/seeds/recordtest"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// linesOfSources is how many rows and lines of results the five published documents have.
// They were counted in their texts, which have no place here, apart from the tables: a row
// that is left out of a file is missing.
var linesOfSources = map[string]int{"000": 417, "001": 34, "002": 37, "003": 124, "004": 162}

// Each published row has a figure beneath it, or a reason: the counts say so for the
// results of recordtest, which have every figure that the files name.
func TestNoPublishedRowIsMissing(t *testing.T) {
	all := 0
	for _, seed := range experiment.Seeds() {
		p, err := read(seed)
		must.Succeed(t, err)
		sum := 0
		for _, table := range p.Tables {
			sum += table.Published
			if table.Lines == "" || table.rows() != table.Published {
				t.Errorf("seed %s, %q: %d rows at lines %q, of %d published", seed, table.Title, table.rows(), table.Lines, table.Published)
			}
		}
		if sum != linesOfSources[seed] {
			t.Errorf("seed %s: the tables have %d published rows, the source %d", seed, sum, linesOfSources[seed])
		}
		_, counts, err := Of(seed, recordtest.All())
		must.Succeed(t, err)
		all += sum
		if counts.Missing != 0 || counts.Published != sum || counts.Here+counts.Reasoned != sum {
			t.Errorf("seed %s: %s, want %d published and none missing", seed, counts, sum)
		}
	}
	page := must.ReadFile(t, "../../../docs/seeds.md")
	for _, want := range []string{fmt.Sprintf("tables: published=%d ", all), fmt.Sprintf("seeds: %d experiments, ", len(experiment.All()))} {
		if !strings.Contains(string(page), want) {
			t.Errorf("docs/seeds.md does not have the line %q", want)
		}
	}
}

// rows are those that are in the file; of blocks each line that was published.
func (t *table) rows() (n int) {
	if !t.Transposed {
		return len(t.Rows)
	}
	for _, r := range t.Rows {
		for i, cell := range r.Cells {
			if cell != "" && !t.Columns[i].Label {
				n++
			}
		}
	}
	return n
}

// A row that loses its figure, and a row that is left out, are counted as missing.
func TestMissingRowsAreCounted(t *testing.T) {
	for name, change := range map[string]func(*table){
		"a row without a figure":  func(t *table) { t.Columns[5].Figure = "" },
		"a row that is left out":  func(t *table) { t.Rows = t.Rows[1:] },
		"a column without either": func(t *table) { t.Columns[1].Figure = "" },
	} {
		p, err := read("002")
		must.Succeed(t, err)
		change(&p.Tables[0])
		d := &document{seed: "002", all: recordtest.All(), published: p, reasons: map[string]int{}}
		counts, err := d.table(&p.Tables[0])
		if err != nil || counts.Missing == 0 {
			t.Errorf("%s: %s (%v)", name, counts, err)
		}
	}
}

// A file that names what does not exist says where.
func TestTablesOfUnknownExperimentsAreNamed(t *testing.T) {
	for want, change := range map[string]func(*table){
		`"002-v09" has no load test "flask-users"`:               func(t *table) { t.Experiment = "002-v09" },
		`"002-v01" has no load test "users"`:                     func(t *table) { t.Test = "users" },
		`rung 5 of 002-v01 flask-users does not exist: it has 4`: func(t *table) { t.Rows[0].Rung = 5 },
		`there is no figure "p42"`:                               func(t *table) { t.Columns[1].Figure = "p42" },
		`there is no conclusion "worst"`:                         func(t *table) { t.Columns[1].As = "worst" },
		`best of "throughput" needs sides`:                       func(t *table) { t.Columns[1].As = "best" },
		`a target needs atLeast or atMost`:                       func(t *table) { t.Columns[1].As = "kept" },
	} {
		p, err := read("002")
		must.Succeed(t, err)
		change(&p.Tables[0])
		d := &document{seed: "002", all: recordtest.All(), published: p, reasons: map[string]int{}}
		if err := d.tables(); err == nil || !strings.HasPrefix(err.Error(), `published table "1 worker, synchronous" of seed 002: row 1 (1): `) || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want that %s", err, want)
		}
	}
}

// A row of another length than the columns is named.
func TestRowsHaveACellForEachColumn(t *testing.T) {
	p, err := read("002")
	must.Succeed(t, err)
	table := &p.Tables[0]
	table.Rows[1].Cells = table.Rows[1].Cells[1:]
	if err := table.validate(); err == nil || err.Error() != "row 2 has 5 cells for 6 columns" {
		t.Errorf("validate() = %v", err)
	}
	table.Columns[0].Label = false
	if err := table.validate(); err == nil || err.Error() != "its first column has to be a label" {
		t.Errorf("validate() = %v", err)
	}
}

// Every experiment and load test has a place in a table, and every place an experiment.
func TestPublishedFiguresAreBesideEveryTest(t *testing.T) {
	for _, seed := range experiment.Seeds() {
		p, err := read(seed)
		must.Succeed(t, err)
		shown, known := map[string]bool{}, map[string]bool{}
		for _, e := range experiment.Of(seed) {
			for _, test := range e.Tests {
				known[e.Name+" "+test] = true
			}
			if p.Labels[e.Name] == "" {
				t.Errorf("published/seed-%s.yaml: labels has no label of experiment %s", seed, e.Name)
			}
		}
		if n := len(experiment.Of(seed)); n > len(colours) {
			t.Errorf("seed %s has %d experiments, and a plot %d colours", seed, n, len(colours))
		}
		for name := range p.Labels {
			if !slices.ContainsFunc(experiment.Of(seed), func(e experiment.Experiment) bool { return e.Name == name }) {
				t.Errorf("published/seed-%s.yaml: labels names %s, which is no experiment of package experiment", seed, name)
			}
		}
		for i := range p.Tables {
			for place := range p.Tables[i].places() {
				shown[place] = true
				if !known[place] {
					t.Errorf("published/seed-%s.yaml: table %q names experiment and load test %q, which package experiment does not have", seed, p.Tables[i].Title, place)
				}
			}
		}
		for place := range known {
			// The delayed batches of 1,000 events, for instance, are in the same table.
			if !shown[place] {
				t.Errorf("published/seed-%s.yaml: no table has %s", seed, place)
			}
		}
	}
}

// places are the experiments with their load tests that a table has figures of.
func (t *table) places() map[string]bool {
	all := map[string]bool{}
	for i := range t.Rows {
		r := &t.Rows[i]
		for c := range t.Columns {
			for _, v := range t.variants(r) {
				p := t.at(r, &t.Columns[c], &v)
				if t.Columns[c].Label || p.Missing != "" || p.Figure == "" {
					continue
				}
				names := p.Sides
				if p.As == "" || p.As == "kept" {
					names = []string{p.Experiment}
				}
				for _, name := range names {
					all[name+" "+p.Test] = true
				}
			}
		}
	}
	return all
}

// Whatever is said to be hidden is shown by an expectation of the same seed or a check,
// and none of them stands for two statements.
func TestWhatIsHiddenIsShownOnce(t *testing.T) {
	for _, seed := range experiment.Seeds() {
		p, err := read(seed)
		must.Succeed(t, err)
		expectations, used := expect.All(seed), map[string]bool{}
		for _, h := range p.Hides {
			if len(h.Shown) == 0 {
				t.Errorf("seed %s: nothing shows %q", seed, h.Claim)
			}
			for _, name := range h.Shown {
				isExpected := slices.ContainsFunc(expectations, func(e expect.Expectation) bool { return e.Name == name })
				if checks[name] == nil && !isExpected {
					t.Errorf("seed %s: nothing expects or checks %s", seed, name)
				}
				if used[name] {
					t.Errorf("seed %s: %s is shown twice", seed, name)
				}
				used[name] = true
			}
		}
	}
}

// Published cells are read as numbers where a plot draws them.
func TestPublishedCellsAreNumbers(t *testing.T) {
	for cell, want := range map[string]float64{
		"59.949ms": 0.059949, "4.71832s": 4.71832, "697µs": 0.000697, "1m14s": 74, "24634 (34.09%)": 24634, "~355": 355,
		"11,800 (118 req/s × 100 events)": 11800, "10,000+ events/sec": 10000, "1,094.70": 1094.7,
	} {
		if got, ok := parse(cell); !ok || got != want {
			t.Errorf("%q is %v, want %v", cell, got, want)
		}
	}
	for _, cell := range []string{"", "✅", "below 95%", "not measured"} {
		if got, ok := parse(cell); ok {
			t.Errorf("%q is %v", cell, got)
		}
	}
}
