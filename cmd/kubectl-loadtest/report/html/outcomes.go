package html

import (
	"fmt"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report"
)

// outcome is what became of what was due in a step, as a bar and in figures. The
// parts add up to what was due.
type outcome struct {
	Title                                         string
	Bar                                           []segment
	Due, Expected, Failed, Unsent, InFlight, Late string
}

// segment is a part of a bar of 100 units.
type segment struct{ Class, X, Width string }

func outcomes(list []v1beta1.StepStatus) []outcome {
	var rows []outcome
	for _, step := range measured(list) {
		r := step.Result
		rows = append(rows, outcome{
			Title: report.Title(step), Due: count(r.Due), Expected: count(r.Expected), Failed: count(r.Failed),
			Unsent: count(r.Unsent), InFlight: count(r.InFlight), Late: count(r.Late),
			Bar: bar(r.Due, []part{{"good", r.Outcomes.Success}, {"denied", r.Expected - r.Outcomes.Success}, {"bad", r.Failed}, {"open", r.InFlight}, {"none", r.Unsent}}),
		})
	}
	return rows
}

type part struct {
	class string
	n     int64
}

func bar(whole int64, parts []part) []segment {
	var list []segment
	at := 0.0
	for _, p := range parts {
		if p.n <= 0 || whole <= 0 {
			continue
		}
		width := 100 * float64(p.n) / float64(whole)
		list = append(list, segment{p.class, fmt.Sprintf("%.3f", at), fmt.Sprintf("%.3f", width)})
		at += width
	}
	return list
}

// failures have a column for each class that occurs.
func failures(list []v1beta1.StepStatus) table {
	t := table{Title: "Failures by class", Heads: []string{"step", "failed"}, Words: 1}
	steps := measured(list)
	occurs := map[int]bool{}
	var names []string
	for _, step := range steps {
		names = names[:0]
		for i, class := range report.Failures(&step.Result.Counts) {
			names = append(names, class.Name)
			occurs[i] = occurs[i] || class.Count != 0
		}
	}
	for i, name := range names {
		if occurs[i] {
			t.Heads = append(t.Heads, name)
		}
	}
	if len(t.Heads) == 2 {
		return table{}
	}
	for _, step := range steps {
		row := []string{report.Title(step), count(step.Result.Failed)}
		for i, class := range report.Failures(&step.Result.Counts) {
			if occurs[i] {
				row = append(row, count(class.Count))
			}
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}
