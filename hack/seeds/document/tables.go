package document

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report"
	"github.com/loadtest-dev/loadtest-operator/hack/seeds/experiment"
	"github.com/loadtest-dev/loadtest-operator/hack/seeds/record"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// Counts are how many published rows there are, and what stands beneath them.
type Counts struct {
	// Published are the rows that were published, by the count in the source.
	Published int
	// Here have an own figure, Reasoned a reason in its place, and Missing neither.
	Here, Reasoned, Missing int
}

// Add adds others.
func (c *Counts) Add(o Counts) {
	c.Published, c.Here = c.Published+o.Published, c.Here+o.Here
	c.Reasoned, c.Missing = c.Reasoned+o.Reasoned, c.Missing+o.Missing
}

func (c Counts) String() string {
	return fmt.Sprintf("published=%d here=%d reasoned=%d missing=%d", c.Published, c.Here, c.Reasoned, c.Missing)
}

// tables have for each published row one of own figures beneath it, or one for each
// variant.
func (d *document) tables() error {
	d.line("\n## Published, and here\n")
	d.line("Beneath each published row stands what was measured here: the median of the repetitions, with the least and the greatest. ° marks figures of which the machine was the limit in some repetition; a number in brackets is a reason below why there is no figure.")
	d.line("Times here are from when a request was due and of all requests that ended, as [results-format.md](../results-format.md) defines them; the published ones are mostly of successes.")
	for i := range d.published.Tables {
		t := &d.published.Tables[i]
		counts, err := d.table(t)
		if err != nil {
			return fmt.Errorf("published table %q of seed %s: %w", t.Title, d.seed, err)
		}
		d.counts = append(d.counts, counts)
	}
	return nil
}

func (d *document) table(t *table) (Counts, error) {
	d.line("\n### %s\n", escape(t.Title))
	heads, rule := make([]string, len(t.Columns)), make([]string, len(t.Columns))
	for i := range t.Columns {
		c := &t.Columns[i]
		heads[i], rule[i] = escape(c.Head), "---:"
		if c.Label {
			rule[i] = ":---"
		}
		if users := d.users(c.over(t.variants(&row{})[0].place).over(t.place)); users > 0 && c.Rung > 0 {
			heads[i] += fmt.Sprintf(" (here %d)", users)
		}
	}
	d.row(heads)
	d.row(rule)
	counts := Counts{Published: t.Published}
	for i := range t.Rows {
		more, err := d.publishedRow(t, &t.Rows[i])
		if err != nil {
			return counts, fmt.Errorf("row %d (%s): %w", i+1, t.Rows[i].Cells[0], err)
		}
		counts.Add(more)
	}
	if n := counts.Here + counts.Reasoned; n < t.Published {
		counts.Missing = t.Published - n
	}
	if t.Note != "" {
		d.line("\n%s", escape(t.Note))
	}
	return counts, nil
}

// users are those of a rung, 0 if the place names none.
func (d *document) users(p place) int32 {
	rungs := record.Rungs(d.all[p.Experiment].LoadTest(p.Test))
	if p.Rung < 1 || p.Rung > len(rungs) {
		return 0
	}
	return rungs[p.Rung-1].Load.Users
}

// beneath is what stands under a published row, by column.
type beneath struct{ found, reasoned []bool }

// publishedRow writes a row and its variants.
func (d *document) publishedRow(t *table, r *row) (counts Counts, err error) {
	theirs := make([]string, len(r.Cells))
	for i, text := range r.Cells {
		theirs[i] = known(escape(text))
	}
	d.row(theirs)
	b, before := beneath{make([]bool, len(t.Columns)), make([]bool, len(t.Columns))}, ""
	for _, v := range t.variants(r) {
		ours, err := d.ours(t, r, &v, b)
		if err != nil {
			return counts, err
		}
		if text := strings.Join(ours, "|"); text != before {
			d.row(ours)
			before = text
		}
	}
	return b.counts(t, r), nil
}

// ours are the cells of a variant.
func (d *document) ours(t *table, r *row, v *variant, b beneath) ([]string, error) {
	ours := make([]string, len(t.Columns))
	for i := range t.Columns {
		c := &t.Columns[i]
		p := t.at(r, c, v)
		switch {
		case c.Label:
			ours[i] = known(escape(r.Cells[i]))
		case r.Cells[i] == "" && !d.ran(p):
			ours[i] = record.Unknown // neither published nor run
		default:
			own, err := d.cell(p)
			if err != nil {
				return nil, err
			}
			ours[i] = d.write(own)
			b.found[i], b.reasoned[i] = b.found[i] || own.text != "", b.reasoned[i] || own.reason != ""
		}
	}
	ours[0] = d.here(t, r, v)
	return ours, nil
}

// ran says whether there can be an own figure where nothing was published.
func (d *document) ran(p place) bool {
	return p.Missing == "" && (p.Whole || p.Rung > 0 && p.Rung <= len(record.Rungs(d.all[p.Experiment].LoadTest(p.Test))))
}

// counts are those of a row. A row of a transposed table is a line in each of its blocks,
// and counts as that many.
func (b beneath) counts(t *table, r *row) (counts Counts) {
	missing := false
	for i := range t.Columns {
		if t.Columns[i].Label || r.Cells[i] == "" {
			continue
		}
		if t.Transposed {
			counts.count(b.found[i], b.reasoned[i])
		}
		missing = missing || !b.found[i] && !b.reasoned[i]
	}
	if !t.Transposed {
		counts.count(!missing && slices.Contains(b.found, true), !missing && slices.Contains(b.reasoned, true))
	}
	return counts
}

func (c *Counts) count(found, reasoned bool) {
	switch {
	case found:
		c.Here++
	case reasoned:
		c.Reasoned++
	default:
		c.Missing++
	}
}

// here names a row of own figures.
func (d *document) here(t *table, r *row, v *variant) string {
	name := "**here"
	if v.Name != "" {
		name += ", " + escape(v.Name)
	}
	if r.Rung > 0 {
		for i := range t.Columns {
			if users := d.users(t.at(r, &t.Columns[i], v)); users > 0 {
				return fmt.Sprintf("%s, %s**", name, text.Plural(int64(users), "user"))
			}
		}
	}
	return name + "**"
}

// write is a cell; reasons are numbered through the document.
func (d *document) write(c cell) string {
	switch {
	case c.reason != "":
		n, ok := d.reasons[c.reason]
		if !ok {
			n = len(d.reasons) + 1
			d.reasons[c.reason], d.listed = n, append(d.listed, c.reason)
		}
		return fmt.Sprintf("[%d]", n)
	case c.limited:
		return escape(c.text) + "°"
	}
	return known(escape(c.text))
}

// missing lists the reasons, and counts ends the document.
func (d *document) missing() {
	if len(d.listed) > 0 {
		d.line("\n### Why figures are missing here\n")
	}
	for i, reason := range d.listed {
		d.line("- [%d] %s", i+1, escape(reason))
	}
}

func (d *document) count() (sum Counts) {
	d.line("\n## Rows of the published tables\n")
	d.line("| table | lines of the source | rows published | with figures here | with a reason | missing |\n| :--- | ---: | ---: | ---: | ---: | ---: |")
	for i, c := range d.counts {
		t := &d.published.Tables[i]
		d.line("| %s | %s | %d | %d | %d | %d |", escape(t.Title), t.Lines, c.Published, c.Here, c.Reasoned, c.Missing)
		sum.Add(c)
	}
	d.line("| **all** | | %d | %d | %d | %d |", sum.Published, sum.Here, sum.Reasoned, sum.Missing)
	return sum
}

func (d *document) row(cells []string) { d.line("| %s |", strings.Join(cells, " | ")) }

func known(text string) string {
	if text == "" {
		return record.Unknown
	}
	return text
}

// stepFigures are the columns of the steps. Requests of seed 003 alone carry several items.
var stepFigures = []stepFigure{
	{"due", "due"}, {"unsent", "unsentShare"}, {"failed", "failedShare"}, {"goodput", "goodput"}, {"items", "items"},
	{"mean", "mean"}, {"p50", "p50"}, {"p95", "p95"}, {"p99", "p99"}, {"p99.9", "p999"}, {"longest", "longest"},
}

type stepFigure struct{ head, figure string }

// steps have all that was measured, with what no published table has: what was due and not
// sent, each class of failures, and whether the machine was the limit.
func (d *document) steps() {
	d.line("\n## Each step here\n")
	d.line("Failures, by class and by request, are the sum of all repetitions.\n")
	heads, rule := []string{"experiment", "test", "users"}, []string{":---", ":---", "---:"}
	columns := slices.DeleteFunc(slices.Clone(stepFigures), func(f stepFigure) bool { return f.figure == "items" && d.seed != "003" })
	for _, f := range columns {
		heads, rule = append(heads, f.head), append(rule, "---:")
	}
	d.row(append(heads, "failures", "generator"))
	d.row(append(rule, ":---", ":---"))
	for _, e := range experiment.Of(d.seed) {
		for _, test := range e.Tests {
			for _, rung := range record.Rungs(d.all[e.Name].LoadTest(test)) {
				cells := []string{escape(d.published.Labels[e.Name]), test, users(&rung.Load)}
				for _, f := range columns {
					cells = append(cells, rung.Text(record.Figures[f.figure]))
				}
				d.row(append(cells, escape(failures(rung)), escape(rung.Limits())))
			}
		}
	}
}

// users are those of a step, or its rate.
func users(l *v1beta1.StepLoad) string {
	if l.Users == 0 && l.Rate != nil {
		return text.Rate(l.Rate.String())
	}
	return fmt.Sprint(l.Users)
}

// failures are the classes that occurred, and the requests that failed.
func failures(rung record.Rung) string {
	var all v1beta1.Counts
	byRequest := map[string]int64{}
	for _, step := range rung.Repetitions {
		record.AddCounts(&all, &step.Result.Counts)
		for i := range step.Result.Requests {
			byRequest[step.Result.Requests[i].Name] += step.Result.Requests[i].Failed
		}
	}
	var classes, requests []string
	for _, class := range report.Failures(&all) {
		if class.Count > 0 {
			classes = append(classes, fmt.Sprintf("%s %d", class.Name, class.Count))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(byRequest)) {
		if n := byRequest[name]; n > 0 {
			requests = append(requests, fmt.Sprintf("%s %d", name, n))
		}
	}
	text := strings.Join(classes, ", ")
	if len(requests) > 0 {
		text += "; " + strings.Join(requests, ", ")
	}
	return known(text)
}
