package html

import (
	"bytes"
	"strconv"
	"strings"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report/plot"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// Compared are LoadTests side by side.
type Compared struct {
	Tests []*v1beta1.LoadTest
	// Names tell them apart.
	Names []string
	// Table has a head and then the rows; its first column says what a row is.
	Table [][]string
	// Requests is the same of each request; nil: no test sent several.
	Requests [][]string
	// Tones are the classes of the cells of both: good, bad or none.
	Tones, RequestTones [][]string
	Note                string
	// Warnings are sentences of what a reader has to know.
	Warnings []string
}

// comparison is what the template shows.
type comparison struct {
	Head      head
	Title     string
	Attention []string
	Figures   []figure
	Table     table
	Requests  table
	Tests     table
}

// Compare is the page of LoadTests side by side.
func Compare(c Compared) ([]byte, error) {
	var b bytes.Buffer
	err := templates.ExecuteTemplate(&b, "compared.html", comparisonOf(c))
	return b.Bytes(), err
}

func comparisonOf(c Compared) *comparison {
	v := &comparison{
		Title: strings.Join(c.Names, ", "), Attention: c.Warnings, Figures: overlays(c),
		Table: table{Title: "Figures by step", Note: c.Note, Heads: c.Table[0], Words: 1, Rows: c.Table[1:], Tones: below(c.Tones)},
		Tests: tests(c),
	}
	if c.Requests != nil {
		v.Requests = table{Title: "Figures by request and step", Heads: c.Requests[0], Words: 1, Rows: c.Requests[1:], Tones: below(c.RequestTones)}
	}
	v.Head = headOf(v.Title)
	return v
}

// below are the rows below the head.
func below(rows [][]string) [][]string { return rows[min(1, len(rows)):] }

func tests(c Compared) table {
	t := table{Title: "The tests", Heads: []string{"test", "verdict", "started", "why"}, Words: 4}
	for i, lt := range c.Tests {
		started := unknown
		if s := lt.Status.StartTime; s != nil {
			started = s.UTC().Format(time.DateTime) + " UTC"
		}
		t.Rows = append(t.Rows, []string{c.Names[i], string(lt.Status.Verdict), started, report.Judgement(&lt.Status)})
	}
	return t
}

// overlays draw a line for each test, if there are two loads.
func overlays(c Compared) []figure {
	var steps []*v1beta1.StepStatus
	of := make([][]*v1beta1.StepStatus, len(c.Tests))
	for i, lt := range c.Tests {
		of[i] = judged(lt.Status.Steps)
		steps = append(steps, of[i]...)
	}
	if len(steps) < 2 {
		return nil
	}
	x, at := loads(steps)
	if x.kind == "step" {
		return nil // the steps of two tests have no common order
	}
	lines := func(value func(*v1beta1.StepResult) (float64, string)) (list []plot.Line, values []float64) {
		from := 0
		for i, name := range c.Names {
			line := series(shortened(name, 12), "test"+strconv.Itoa(i%mostTests), of[i], at[from:from+len(of[i])], value)
			from += len(of[i])
			for _, p := range line.Points {
				values = append(values, p.Y)
			}
			list = append(list, line)
		}
		return list, values
	}
	good, rates := lines(func(r *v1beta1.StepResult) (float64, string) {
		return report.Number(r.Goodput), text.Rate(r.Goodput)
	})
	slow, durations := lines(func(r *v1beta1.StepResult) (float64, string) {
		if r.ResponseTime == nil || r.ResponseTime.P95 == nil {
			return 0, ""
		}
		return inText(r.ResponseTime.P95)
	})
	return []figure{
		drawn("Goodput", "Successes per second, a line for each test.",
			"Goodput over the load, a line for each test. The table has the same figures.",
			plot.Figure{X: x.Axis, Y: rateAxis(rates), Lines: good}),
		drawn("Response time, p95", "From when a request was due to its outcome, all outcomes, a line for each test.",
			"The 95th percentile of response time over the load, a line for each test. The table has the same figures.",
			plot.Figure{X: x.Axis, Y: timeAxis(durations), Lines: slow}),
	}
}

// mostTests is how many kinds of line there are; more tests than that share them.
const mostTests = 4
