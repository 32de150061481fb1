package comparison

import (
	"cmp"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report/html"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/metric"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/statistics"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// none stands for a value that a test does not have.
const none = "-"

// noRange explains a difference without a range.
const noRange = "A difference without a range may be noise; a range takes 3 repetitions of both (spec.repetitions)."

// Text is the page for a terminal. The best of each step has a star.
func (c *Comparison) Text() string {
	return text.Lines(c.page(star, textTable, "", "  ")) // saved LoadTests may be of anyone
}

// Markdown is the page for a document. The best of each step is bold.
func (c *Comparison) Markdown() string {
	return c.page(func(value string) string { return "**" + value + "**" }, markdownTable, "### Comparison\n\n", "- ")
}

// HTML is the page for a browser, with plots. The best of each step has a star.
func (c *Comparison) HTML() ([]byte, error) {
	return html.Compare(c.compared())
}

// Parts are the sections of that page.
func (c *Comparison) Parts() ([]html.Part, error) { return html.ComparedParts(c.compared()) }

func (c *Comparison) compared() html.Compared {
	return html.Compared{
		Tests: c.tests, Names: c.names, Table: c.rows(star), Requests: c.requestRows(star), Note: "* is the best of a step. " + noRange, Warnings: c.warnings(),
	}
}

func star(value string) string { return value + " *" }

func (c *Comparison) page(mark func(string) string, table func([][]string) string, title, bullet string) string {
	var b strings.Builder
	b.WriteString(title)
	b.WriteString(table(c.rows(mark)))
	if requests := c.requestRows(mark); requests != nil {
		b.WriteString("\n" + strings.Replace(cmp.Or(title, "By request\n\n"), "Comparison", "By request", 1) + table(requests))
	}
	b.WriteString("\n" + noRange + "\n")
	if warnings := c.warnings(); len(warnings) > 0 {
		b.WriteString("\nMind:\n")
		if bullet == "- " {
			b.WriteString("\n")
		}
		for _, warning := range warnings {
			b.WriteString(bullet + warning + "\n")
		}
	}
	return b.String()
}

// rows are the table: a column for each step, and for each metric a row for each test,
// and then one for each difference to the first.
func (c *Comparison) rows(mark func(string) string) [][]string {
	rows := [][]string{c.head("Metric")}
	for _, m := range metric.Titled() {
		rows = append(rows, c.rowsOf(metric.Quantity{Metric: m.Name}, m.Title, mark)...)
	}
	return rows
}

// requestRows are the same of each request, as far as a metric is known of it; nil: no test
// sent several.
func (c *Comparison) requestRows(mark func(string) string) [][]string {
	rows := [][]string{c.head("Request and metric")}
	for _, name := range c.requests() {
		for _, m := range metric.Titled() {
			if q := (metric.Quantity{Request: name}).Of(m); q.Request != "" {
				rows = append(rows, c.rowsOf(q, name+" "+m.Title, mark)...)
			}
		}
	}
	if len(rows) == 1 {
		return nil
	}
	return rows
}

func (c *Comparison) head(first string) []string {
	head := []string{first}
	for i := range c.columns {
		head = append(head, c.columns[i].Name)
	}
	return head
}

func (c *Comparison) rowsOf(q metric.Quantity, title string, mark func(string) string) (rows [][]string) {
	for test, name := range c.names {
		rows = append(rows, c.row(fmt.Sprintf("(%s) %s", name, title), func(column int) string { return c.cell(test, column, q, mark) }))
	}
	for test := 1; test < len(c.tests); test++ {
		label := "Difference"
		if len(c.tests) > 2 {
			label = fmt.Sprintf("Difference of %s", c.names[test])
		}
		rows = append(rows, c.row(label, func(column int) string { return c.difference(test, column, q) }))
	}
	return rows
}

func (c *Comparison) row(label string, cell func(column int) string) []string {
	row := []string{label}
	for column := range c.columns {
		text := cell(column)
		if text == "" {
			text = none
		}
		row = append(row, text)
	}
	return row
}

func (c *Comparison) cell(test, column int, q metric.Quantity, mark func(string) string) string {
	m, value := metric.Of(q.Metric), statistics.Middle(c.values(test, column, q))
	if value == nil {
		return ""
	}
	if best := c.best(column, q); best != nil && best.Cmp(value) == 0 {
		return mark(m.Unit.Short(value))
	}
	return m.Unit.Short(value)
}

// textTable aligns the columns.
func textTable(rows [][]string) string {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	var b strings.Builder
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			line.WriteString(cell + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+3))
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	return b.String()
}

// markdownTable escapes what would end a cell.
func markdownTable(rows [][]string) string {
	var b strings.Builder
	for i, row := range rows {
		for _, cell := range row {
			b.WriteString("| " + strings.ReplaceAll(cell, "|", `\|`) + " ")
		}
		b.WriteString("|\n")
		if i == 0 {
			b.WriteString(strings.Repeat("| --- ", len(row)) + "|\n")
		}
	}
	return b.String()
}
