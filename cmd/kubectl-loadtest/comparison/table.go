package comparison

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report/html"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report/markdown"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/metric"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/rungs"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/statistics"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// none stands for a value that a test does not have.
const none = "-"

// What explains the differences, in a sentence each.
const (
	noRange  = "A difference without a range may be noise; a range takes 3 repetitions of both (spec.repetitions)."
	whatMark = "Better and worse stand only where chance does not explain a difference, of all that are shown together."
	// ofPairs is why a difference is another than that of the figures beside it.
	ofPairs = "A difference is the median of the ratios of all pairs of repetitions, one of each test, not the ratio of the medians above it."
	// noEnds is why times of streams are not tested.
	noEnds = "Times of streams have no mark: results do not have them without the generator's own delay."
	notAll = "Without 3 repetitions of both, only large differences of enough requests are marked, such as times that differ more than fourfold; p95 takes 400 requests and p99 2,000. Steps whose outstanding requests grew have no mark."
)

// notes are what a reader of the marks must know.
func (c *Comparison) notes() []string {
	notes := []string{whatMark, noRange, notAll}
	if c.isRepeated() {
		notes = append([]string{ofPairs}, notes...)
	}
	if c.inAny(hasStreams) {
		notes = append(notes, noEnds)
	}
	return notes
}

// isRepeated says whether a test has repetitions of a step.
func (c *Comparison) isRepeated() bool {
	for _, row := range c.rungs {
		if slices.ContainsFunc(row, func(r *rungs.Rung) bool { return r != nil && len(r.Steps) > 1 }) {
			return true
		}
	}
	return false
}

// Text is the page for a terminal.
func (c *Comparison) Text() string {
	return text.Lines(c.page(textTable, "", "  ")) // saved LoadTests may be of anyone
}

// Markdown is the page for a document.
func (c *Comparison) Markdown() string {
	return c.page(markdownTable, "### Comparison\n\n", "- ")
}

// HTML is the page for a browser, with plots.
func (c *Comparison) HTML() ([]byte, error) {
	return html.Compare(c.forHTML())
}

// Parts are the sections of that page.
func (c *Comparison) Parts() ([]html.Part, error) { return html.ComparedParts(c.forHTML()) }

func (c *Comparison) forHTML() html.Compared {
	page := html.Compared{Tests: c.tests, Names: c.names, Note: strings.Join(c.notes(), " "), Warnings: c.warnings()}
	page.Table, page.Tones = divided(c.rows())
	page.Requests, page.RequestTones = divided(c.requestRows())
	return page
}

// divided are the texts of a table, and the class of each cell.
func divided(rows [][]cell) (texts, tones [][]string) {
	for _, row := range rows {
		var of, tone []string
		for _, c := range row {
			of, tone = append(of, c.text), append(tone, map[Mark]string{Better: "good", Worse: "bad"}[c.mark])
		}
		texts, tones = append(texts, of), append(tones, tone)
	}
	return texts, tones
}

// JSON is a list of all differences, the names of the tests, and what else differs.
func (c *Comparison) JSON() ([]byte, error) {
	data, err := json.MarshalIndent(struct {
		Tests       []string     `json:"tests"`
		Differences []Difference `json:"differences"`
		Warnings    []string     `json:"warnings,omitempty"`
	}{c.names, append([]Difference{}, c.differences...), c.warnings()}, "", "  ")
	return append(data, '\n'), err
}

func (c *Comparison) page(table func([][]cell) string, title, bullet string) string {
	var b strings.Builder
	b.WriteString(title)
	b.WriteString(table(c.rows()))
	if requests := c.requestRows(); requests != nil {
		b.WriteString("\n" + strings.Replace(cmp.Or(title, "By request\n\n"), "Comparison", "By request", 1) + table(requests))
	}
	b.WriteString("\n" + strings.Join(c.notes(), "\n") + "\n")
	if warnings := c.warnings(); len(warnings) > 0 {
		b.WriteString("\nMind:\n")
		if bullet == "- " {
			b.WriteString("\n")
		}
		for _, warning := range warnings {
			if bullet == "- " {
				warning = markdown.Escape(warning)
			}
			b.WriteString(bullet + warning + "\n")
		}
	}
	return b.String()
}

// cell is a cell of a table; marked: a difference that chance does not explain.
type cell struct {
	text string
	mark Mark
}

// rows are the table: a column for each step, and for each metric a row for each test,
// and then one for each difference to the first.
func (c *Comparison) rows() [][]cell {
	rows := [][]cell{c.head("Metric")}
	for _, q := range c.ofAll() {
		rows = append(rows, c.rowsOf(q, q.Title())...)
	}
	return rows
}

// requestRows are the same of each request, as far as a metric is known of it; nil: no test
// sent several.
func (c *Comparison) requestRows() [][]cell {
	rows := [][]cell{c.head("Request and metric")}
	for _, name := range c.requests() {
		for _, q := range c.ofRequest(name) {
			rows = append(rows, c.rowsOf(q, name+" "+q.Title())...)
		}
	}
	if len(rows) == 1 {
		return nil
	}
	return rows
}

func (c *Comparison) head(first string) []cell {
	head := []cell{{text: first}}
	for i := range c.columns {
		head = append(head, cell{text: c.columns[i].Name})
	}
	return head
}

func (c *Comparison) rowsOf(q metric.Quantity, title string) (rows [][]cell) {
	for test, name := range c.names {
		rows = append(rows, c.row(fmt.Sprintf("(%s) %s", name, title), func(column int) cell { return cell{text: c.value(test, column, q)} }))
	}
	for test := 1; test < len(c.tests); test++ {
		label := "Difference"
		if len(c.tests) > 2 {
			label = fmt.Sprintf("Difference of %s", c.names[test])
		}
		rows = append(rows, c.row(label, func(column int) cell {
			if d := c.find(test, column, q); d != nil {
				return cell{d.String(), d.Mark}
			}
			return cell{}
		}))
	}
	return rows
}

func (c *Comparison) row(label string, of func(column int) cell) []cell {
	row := []cell{{text: label}}
	for column := range c.columns {
		next := of(column)
		next.text = cmp.Or(next.text, none)
		row = append(row, next)
	}
	return row
}

func (c *Comparison) value(test, column int, q metric.Quantity) string {
	value := statistics.Median(c.values(test, column, q))
	if value == nil {
		return ""
	}
	return metric.Of(q.Metric).Unit.Short(value)
}

// textTable aligns the columns.
func textTable(rows [][]cell) string {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell.text))
		}
	}
	var b strings.Builder
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			line.WriteString(cell.text + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell.text)+3))
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	return b.String()
}

// markdownTable escapes what would end a cell. What is marked is bold.
func markdownTable(rows [][]cell) string {
	var b strings.Builder
	for i, row := range rows {
		for _, cell := range row {
			said := markdown.Escape(cell.text)
			if cell.mark != Unmarked {
				said = "**" + said + "**"
			}
			b.WriteString("| " + said + " ")
		}
		b.WriteString("|\n")
		if i == 0 {
			b.WriteString(strings.Repeat("| --- ", len(row)) + "|\n")
		}
	}
	return b.String()
}
