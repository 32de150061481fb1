package markdown

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// maxBytes is how long a comment may be on GitHub, in characters; elsewhere it is more.
const maxBytes = 65_536

// Report is the report of a LoadTest, and below it the report of each load that it sent. It ends with a line
// break.
func Report(lt *v1beta1.LoadTest, loads ...*v1beta1.LoadTest) string {
	p := &page{lt: lt, most: maxBytes - reserve - loadReserve*len(loads)}
	p.report()
	for _, load := range loads {
		p.lt = load
		fmt.Fprintf(p, "\n---\n\n**%s**\n\n", escape(report.LoadTitle(lt, load.Name)))
		p.report()
	}
	if p.omitted > 0 {
		fmt.Fprintf(p, "\n%d rows are left out, because a comment has at most %d characters: `kubectl loadtest report` has them.\n", p.omitted, maxBytes)
	}
	return p.String()
}

// report writes the report of one LoadTest.
func (p *page) report() {
	p.head()
	p.thresholds()
	p.attention()
	p.environment()
	p.usage()
	p.sides()
	p.loads()
	p.steps()
	p.latency()
	p.course()
	p.log()
	p.journeys()
	p.requests()
	p.streams()
	p.failures()
	p.traces()
	p.audits()
	p.generator()
}

// page is a report that is being written.
type page struct {
	strings.Builder
	lt *v1beta1.LoadTest
	// most is how long it may be with a further row of a table.
	most int
	// omitted is how many rows of tables there was no room for.
	omitted int
}

// reserve is what a page keeps free after the tables of a LoadTest, for what names what was omitted, and
// loadReserve for the report of each load, for all of it that stands outside of tables.
const reserve, loadReserve = 512, 4096

// fits says whether there is room for a row.
func (p *page) fits(row string) bool { return p.Len()+len(row) < p.most }

// marks are what a reader sees first; the word beside each says the same.
var marks = map[string]string{"Passed": "✅", "Failed": "❌", "Inconclusive": "⚠️", "Canceled": "⏹️", "Error": "🛑"}

func marked(state string) string {
	if mark := marks[state]; mark != "" {
		return mark + " " + state
	}
	return escape(state)
}

func (p *page) head() {
	s := &p.lt.Status
	verdict := marked(string(s.Verdict))
	if s.Verdict == "" {
		verdict = escape(report.Phase(s))
	}
	if worst := report.Worst(s); worst != "" {
		verdict += ": " + escape(worst)
	}
	fmt.Fprintf(p, "## %s: %s\n", escape(p.lt.Namespace+"/"+p.lt.Name), verdict)
	if reason := report.Judgement(s); reason != "" {
		fmt.Fprintf(p, "\n%s\n", escape(reason))
	}
	p.line("")
	for _, f := range report.Facts(p.lt) {
		fmt.Fprintf(p, "- **%s**: %s\n", f.Name, escape(f.Text))
	}
}

func (p *page) line(text string) { p.WriteString(text + "\n") }

func (p *page) thresholds() {
	var rows [][]string
	messages := report.ThresholdResults(&p.lt.Status)
	for i, t := range p.lt.Status.Thresholds {
		rows = append(rows, []string{marked(string(t.State)), escape(report.ThresholdName(&t)), escape(t.Step), escape(report.Observed(&t)), escape(t.Limit), escape(messages[i])})
	}
	p.table(bracketed("Thresholds", report.AnyObservedTwice(p.lt.Status.Thresholds)), []string{"", "threshold", "step", "observed", "limit", ""}, 2, rows)
}

func (p *page) attention() {
	list := report.Attention(&p.lt.Status)
	if len(list) == 0 {
		return
	}
	p.line("\n### Attention\n")
	for _, n := range list {
		fmt.Fprintf(p, "- **%s**: %s\n", escape(n.Reason), escape(n.Message))
	}
}

func (p *page) environment() {
	var rows [][]string
	for _, f := range report.Environment(&p.lt.Status) {
		rows = append(rows, []string{escape(f.Name), escape(f.Text)})
	}
	p.table("Environment", []string{"", ""}, 2, rows)
}

// usage has what the pods used, and what Prometheus answered.
func (p *page) usage() {
	for _, t := range []struct {
		title string
		heads []string
		rows  [][]string
	}{
		{"Usage of the target's pods", report.UsageHeads, report.Usage(&p.lt.Status)}, {"Queries", report.QueryHeads, report.Queries(&p.lt.Status)},
	} {
		for _, row := range t.rows {
			copy(row, escaped(row))
		}
		p.table(t.title, t.heads, 2, t.rows)
	}
}

func (p *page) steps() {
	var rows [][]string
	list := report.Bracketed(&p.lt.Status, report.Brief)
	for _, r := range list {
		rows = append(rows, escaped(r.Cells()))
	}
	p.table(bracketed("Steps", report.AnyBracketed(list)), report.RungHeads, 1, rows)
}

// bracketed is the title of a table, which may have two values in a cell.
func bracketed(title string, twice bool) string {
	if twice {
		title += " (" + report.InParentheses + ")"
	}
	return title
}

// course is what a table of times does not show: for how long the target was down, and
// what piled up.
func (p *page) course() {
	var rows [][]string
	p.measured(func(title string, r *v1beta1.StepResult) {
		down, outstanding := report.Downtime(r), report.Outstanding(r.Outstanding)
		if down == "" && !r.Outstanding.Grows() && !r.Outstanding.IsUncertain() {
			return
		}
		rows = append(rows, []string{title, escape(cmp.Or(down, "0%")), escape(cmp.Or(outstanding, "–"))})
	})
	p.table("Downtime and outstanding requests", []string{"step", "downtime", "outstanding"}, 1, rows)
}

func (p *page) sides() {
	heads, list := report.Sides(p.lt)
	var rows [][]string
	for _, cells := range list {
		rows = append(rows, escaped(cells))
	}
	p.table("Both targets, "+report.SidesNote, escaped(heads), 2, rows)
}

func (p *page) loads() {
	var rows [][]string
	for _, cells := range report.Loads(&p.lt.Status) {
		rows = append(rows, escaped(cells))
	}
	p.table("Loads, "+report.LoadsNote, report.LoadHeads, 3, rows)
}

func (p *page) latency() {
	var rows [][]string
	heads := []string{"step"}
	for _, q := range report.Quantiles(&v1beta1.Latency{}) {
		heads = append(heads, q.Name)
	}
	p.measured(func(title string, r *v1beta1.StepResult) {
		if r.ResponseTime == nil {
			return
		}
		row := []string{title}
		for _, b := range report.Brackets(r.ResponseTime, r.WithoutGenerator) {
			row = append(row, b.Text(report.Brief))
		}
		rows = append(rows, row)
	})
	p.table(bracketed("Response time, from when a request was due", report.AnyVisible(p.lt.Status.Steps)), heads, 1, rows)
}

// measured calls a function for each step with a result.
func (p *page) measured(do func(title string, r *v1beta1.StepResult)) {
	for i := range p.lt.Status.Steps {
		if step := &p.lt.Status.Steps[i]; step.Result != nil {
			do(escape(report.Title(step)), step.Result)
		}
	}
}

func (p *page) journeys() {
	var rows [][]string
	p.measured(func(title string, r *v1beta1.StepResult) {
		for _, row := range report.Journeys(r) {
			rows = append(rows, append([]string{title}, escaped(row)...))
		}
	})
	p.table("Journeys", append([]string{"step"}, report.JourneyHeads...), 2, rows)
}

// log has what became of the lines of a log.
func (p *page) log() {
	var rows [][]string
	p.measured(func(title string, r *v1beta1.StepResult) {
		if row := report.Log(r); row != nil {
			rows = append(rows, append([]string{title}, escaped(row)...))
		}
	})
	p.table("Log", append([]string{"step"}, report.LogHeads...), 1, rows)
}

// requests has a row for each request of a step that sent several.
func (p *page) requests() {
	var rows [][]string
	var omitted []string
	p.measured(func(title string, r *v1beta1.StepResult) {
		for _, row := range report.Requests(r) {
			rows = append(rows, append([]string{title}, escaped(row)...))
		}
		if text := report.Omitted(r); text != "" {
			omitted = append(omitted, title+": "+text)
		}
	})
	p.table("By request", append([]string{"step"}, report.RequestHeads...), 3, rows)
	for _, text := range omitted {
		fmt.Fprintf(p, "\n%s\n", text)
	}
}

// streams has a row for each request of a step whose responses came in parts.
func (p *page) streams() {
	var rows [][]string
	p.measured(func(title string, r *v1beta1.StepResult) {
		for _, row := range report.Streams(r) {
			rows = append(rows, append([]string{title}, escaped(row)...))
		}
	})
	p.table("Streams: times to the first event, from when a request was due, and between events", append([]string{"step"}, report.StreamHeads...), 2, rows)
}

// failures has a row for each class of a step that a request is in.
func (p *page) failures() {
	var rows [][]string
	p.measured(func(title string, r *v1beta1.StepResult) {
		for _, class := range report.Failures(&r.Counts) {
			if class.Count > 0 {
				rows = append(rows, []string{title, class.Name, fmt.Sprint(class.Count)})
			}
		}
	})
	p.table("Failures", []string{"step", "class", "requests"}, 2, rows)
}

func (p *page) traces() {
	var rows [][]string
	p.measured(func(title string, r *v1beta1.StepResult) {
		for _, row := range report.Traces(r) {
			rows = append(rows, append([]string{title}, escaped(row)...))
		}
	})
	p.table("Traces", append([]string{"step"}, report.TraceHeads...), 5, rows)
}

func (p *page) audits() {
	var stored, rows [][]string
	results := report.AuditResults(&p.lt.Status)
	for i, a := range p.lt.Status.Audits {
		stored = append(stored, []string{marked(string(a.State)), escape(a.Name), escape(results[i])})
	}
	p.table("Audits", []string{"", "audit", ""}, 3, stored)
	p.measured(func(title string, r *v1beta1.StepResult) {
		if a := r.RateLimit; a != nil {
			rows = append(rows, []string{title, fmt.Sprint(a.Clients), fmt.Sprint(a.Granted), fmt.Sprint(a.Denied),
				fmt.Sprint(a.OverLimitGrants), fmt.Sprint(a.FalseDenials), fmt.Sprint(a.Untracked)})
		}
	})
	p.table("Rate limit check", []string{"step", "clients", "granted", "denied", "over-limit grants", "false denials", "not audited"}, 1, rows)
}

func (p *page) generator() {
	var rows [][]string
	p.measured(func(title string, r *v1beta1.StepResult) {
		if g := r.Generator; g != nil {
			rows = append(rows, []string{title, report.Healthy(g), escape(strings.Join(report.Health(g), ", "))})
		}
	})
	p.table("Generator", []string{"step", "", ""}, 3, rows)
}

// table writes nothing where there is no row. The first columns are words, the
// others figures.
func (p *page) table(title string, heads []string, words int, rows [][]string) {
	if len(rows) == 0 {
		return
	}
	rule := make([]string, len(heads))
	for i := range rule {
		if rule[i] = "---:"; i < words || heads[i] == "" {
			rule[i] = "---"
		}
	}
	head := "\n### " + title + "\n\n" + line(heads) + line(rule)
	if !p.fits(head + line(rows[0])) {
		p.omitted += len(rows)
		return
	}
	p.WriteString(head)
	for i, cells := range rows {
		row := line(cells)
		if !p.fits(row) {
			p.omitted += len(rows) - i
			return
		}
		p.WriteString(row)
	}
}

// line is a row of a table.
func line(cells []string) string { return "| " + strings.Join(cells, " | ") + " |\n" }

func escaped(cells []string) []string {
	list := make([]string, len(cells))
	for i, c := range cells {
		list[i] = escape(c)
	}
	return list
}

// special are the characters with a meaning in Markdown or in the HTML within it. What is
// mentioned or referred to is found in the text as it is shown, so that no escape hides an
// @ or a #: a space of no width does.
var special = strings.NewReplacer(
	"\\", "\\\\", "`", "\\`", "*", "\\*", "_", "\\_", "[", "\\[", "]", "\\]", "<", "&lt;", ">", "&gt;",
	"|", "\\|", "#", "\\#&#8203;", "!", "\\!", "~", "\\~", "&", "&amp;", "@", "@&#8203;", "$", "\\$", "\r", " ", "\n", " ", "\t", " ",
)

// Escape makes plain text of what others wrote, for a page of Markdown: no markup, no formula and no
// mention, and no character that reorders the text.
func Escape(s string) string { return escape(s) }

func escape(s string) string { return text.Lines(special.Replace(s)) }
