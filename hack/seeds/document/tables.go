package document

import (
	"fmt"
	"strings"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report"
	"github.com/loadtest-dev/loadtest-operator/hack/seeds/expect"
	"github.com/loadtest-dev/loadtest-operator/hack/seeds/record"
	"github.com/loadtest-dev/loadtest-operator/text"
)

const unknown = "–"

// tables have a row for each published one, with own figures to its right. Tables of
// the same title are one.
func (d *document) tables() {
	d.line("\n## Published, and here")
	before := ""
	for _, t := range d.published.Tables {
		lt := d.all[t.Experiment].LoadTest(t.Test)
		heads, rows := ladderHeads, ladder(lt)
		if lt.Spec.RateLimit() != nil {
			heads, rows = contractHeads, contract(lt)
		}
		if t.Title != before {
			before = t.Title
			d.line("\n### %s\n", escape(t.Title))
			d.heads(t.Heads, heads)
		}
		for i, own := range rows {
			row := make([]string, len(t.Heads))
			if i < len(t.Rows) {
				copy(row, t.Rows[i])
			}
			for c, cell := range row {
				if cell == "" {
					row[c] = unknown
				}
			}
			d.row(append(row, own...))
		}
	}
}

// heads are those of published columns, and after a mark those of own ones.
func (d *document) heads(theirs, ours []string) {
	all := append([]string{}, theirs...)
	for i, head := range ours {
		if i == 0 {
			head = "**here:** " + head
		}
		all = append(all, head)
	}
	rule := make([]string, len(all))
	for i := range rule {
		rule[i] = "---:"
	}
	d.line("| %s |", strings.Join(all, " | "))
	d.row(rule)
}

func (d *document) row(cells []string) {
	escaped := make([]string, len(cells))
	for i, cell := range cells {
		escaped[i] = escape(cell)
	}
	d.line("| %s |", strings.Join(escaped, " | "))
}

var ladderHeads = []string{"users", "due", "unsent", "failed", "goodput", "items", "mean", "p50", "p95", "p99", "generator"}

// ladder has a row for each step.
func ladder(lt *v1beta1.LoadTest) [][]string {
	var rows [][]string
	for _, step := range record.Rungs(lt) {
		r := step.Result
		items := unknown
		if r.ItemsPerSecond != "" {
			items = text.Rate(r.ItemsPerSecond)
		}
		row := []string{fmt.Sprint(step.Load.Users), fmt.Sprint(r.Due), known(text.Percent(r.Unsent, r.Due)), known(text.Percent(r.Failed, r.Sent)), text.Rate(r.Goodput), items}
		if l := r.ResponseTime; l != nil {
			row = append(row, report.Brief(l.Mean), report.Brief(l.P50), report.Brief(l.P95), report.Brief(l.P99))
		} else {
			row = append(row, unknown, unknown, unknown, unknown)
		}
		rows = append(rows, append(row, generator(r.Generator)))
	}
	return rows
}

// generator says whether the generator was the limit.
func generator(g *v1beta1.GeneratorStatus) string {
	switch {
	case g == nil:
		return unknown
	case g.Healthy:
		return "healthy"
	}
	return g.Reason
}

func known(text string) string {
	if text == "" {
		return unknown
	}
	return text
}

var contractHeads = []string{"sent", "granted", "denied", "over-limit grants", "false denials", "failed", "p95", "verdict"}

// contract has one row: the sum of all steps, and the p95 of the first, the burst.
func contract(lt *v1beta1.LoadTest) [][]string {
	var sent, failed int64
	rungs := record.Rungs(lt)
	for _, step := range rungs {
		sent, failed = sent+step.Result.Sent, failed+step.Result.Failed
	}
	a, p95 := expect.Grants(lt), unknown
	if l := rungs[0].Result.ResponseTime; l != nil {
		p95 = report.Brief(l.P95)
	}
	return [][]string{{fmt.Sprint(sent), fmt.Sprint(a.Granted), fmt.Sprint(a.Denied), fmt.Sprint(a.OverLimitGrants), fmt.Sprint(a.FalseDenials),
		fmt.Sprint(failed), p95, string(lt.Status.Verdict)}}
}
