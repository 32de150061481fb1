package comparison

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report/markdown"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/metric"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/statistics"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// maxComment is how long a comment may be on GitHub, in characters; elsewhere it is more. What
// stands outside of the table and the warnings takes less than the reserve.
const maxComment, commentReserve = 65_536, 8_192

// leastRow is how long a row of the table is at least: five cells.
const leastRow = len("|  |  |  |  |  |\n")

// maxPlot is how long a plot may be, so that the table has room. With two tests of short names it is shorter.
const maxPlot = maxComment / 3

// heads are what a reader of a comment sees first.
var heads = map[v1beta1.Verdict]string{
	v1beta1.VerdictPassed: "✅ No regression", v1beta1.VerdictFailed: "❌ Regression", v1beta1.VerdictInconclusive: "⚠️ Not comparable",
}

// Comment is the page for a pull request, in Markdown: what Judge says of regressions, a plot as
// GitHub and GitLab draw it, and a row for each difference.
func (c *Comparison) Comment() string {
	var b strings.Builder
	judged := c.Judge(FailOnRegression)
	fmt.Fprintf(&b, "## %s: %s\n\n%s\n", heads[judged.Verdict], markdown.Escape(short(c.tests[len(c.tests)-1].Name)), markdown.Escape(short(judged.Message)))
	b.WriteString(c.plot())
	table := [][]cell{{{text: "step"}, {text: "metric"}, {text: c.called(0)}, {text: "this run"}, {text: "difference"}}}
	if len(c.tests) > 2 {
		table[0][3].text = "later run"
	}
	most := min(len(c.differences), maxComment/leastRow)
	for i := range c.differences[:most] {
		table = append(table, c.differenceRow(&c.differences[i]))
	}
	b.WriteString("\n")
	omitted := len(c.differences) - most + appendLines(&b, slices.Collect(strings.Lines(markdownTable(table))))
	if omitted > 0 {
		fmt.Fprintf(&b, "\n%d rows are left out, because a comment has at most %d characters.\n", omitted, maxComment)
	}
	fmt.Fprintf(&b, "\n%s\n", strings.Join(c.notes(), " "))
	if warnings := c.warnings(); len(warnings) > 0 {
		b.WriteString("\nMind:\n\n")
		for i, warning := range warnings {
			warnings[i] = "- " + markdown.Escape(warning) + "\n"
		}
		appendLines(&b, warnings)
	}
	return b.String()
}

// appendLines writes the lines for which a comment has room, and returns how many it left out.
func appendLines(b *strings.Builder, lines []string) (omitted int) {
	for i, line := range lines {
		if b.Len()+len(line) > maxComment-commentReserve {
			return len(lines) - i
		}
		b.WriteString(line)
	}
	return 0
}

// differenceRow is a difference in a table.
func (c *Comparison) differenceRow(d *Difference) []cell {
	title := d.quantity.Title()
	if d.Request != "" {
		title = d.Request + " " + title
	}
	value := d.Value
	if len(c.tests) > 2 {
		value += " (" + d.Test + ")"
	}
	return []cell{{text: d.Step}, {text: title}, {text: d.First}, {text: value}, {d.String(), d.Mark}}
}

// short keeps what a saved file has from filling a comment.
func short(s string) string { return text.Truncate(s, 512) }

// plot is p95 by step, as a diagram of Mermaid, and a sentence where it is not of all steps; empty: fewer than two
// steps have it in all tests.
func (c *Comparison) plot() string {
	const fewest, most = 2, 32
	q := metric.Quantity{Metric: "p95"}
	lines, titles, top, steps := make([][]string, len(c.tests)), []string(nil), 0.0, 0
	for column := range c.columns {
		points := c.millis(column, q)
		if points == nil {
			continue
		}
		if steps++; steps > most {
			continue
		}
		titles = append(titles, `"`+plain(c.columns[column].Name)+`"`)
		for test, ms := range points {
			lines[test], top = append(lines[test], fmt.Sprintf("%.3f", ms)), max(top, ms)
		}
	}
	if len(titles) < fewest {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n```mermaid\nxychart-beta\n  title \"p95 in ms: %s\"\n  x-axis [%s]\n  y-axis \"ms\" 0 --> %.3f\n", c.legend(), strings.Join(titles, ", "), top)
	for _, line := range lines {
		fmt.Fprintf(&b, "  line [%s]\n", strings.Join(line, ", "))
	}
	b.WriteString("```\n")
	if b.Len() > maxPlot {
		return "\nThe plot of p95 is left out: with so long names, it has no room in a comment.\n"
	}
	if steps > most {
		fmt.Fprintf(&b, "\nThe plot has the first %d of %d steps.\n", most, steps)
	}
	return b.String()
}

// millis are the medians of a quantity in a step, of each test; nil: one does not have it.
func (c *Comparison) millis(column int, q metric.Quantity) (list []float64) {
	for test := range c.tests {
		middle := statistics.Median(c.values(test, column, q))
		if middle == nil {
			return nil
		}
		ms, _ := new(big.Rat).Quo(middle, big.NewRat(1000, 1)).Float64()
		list = append(list, ms)
	}
	return list
}

// legend says which line is of which test: diagrams of Mermaid have no legend.
func (c *Comparison) legend() string {
	var list []string
	for test := range c.tests {
		list = append(list, fmt.Sprintf("line %d %s", test+1, plain(c.called(test))))
	}
	return strings.Join(list, ", ")
}

// called is what a comment calls a test. Two runs of a pipeline have the same name.
func (c *Comparison) called(test int) string {
	if len(c.tests) == 2 {
		return []string{"baseline", "this run"}[test]
	}
	return short(c.names[test])
}

// plain keeps the characters that end neither a text of Mermaid nor its block.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune(" ._/()-", r) {
			return r
		}
		return -1
	}, short(s))
}
