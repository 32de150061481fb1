package comparison

import (
	"fmt"
	"slices"
	"strings"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// FailOn is what a comparison fails on.
type FailOn string

// What a comparison fails on. Differences are those that chance does not explain.
const (
	// FailOnNever fails on nothing.
	FailOnNever FailOn = "Never"
	// FailOnRegression fails on a difference for the worse.
	FailOnRegression FailOn = "Regression"
	// FailOnChange fails on a difference for the worse or the better.
	FailOnChange FailOn = "Change"
)

// FailOns are all of them, in the order of the help.
func FailOns() []FailOn { return []FailOn{FailOnNever, FailOnRegression, FailOnChange} }

// Judgement is what a comparison says of the later tests.
type Judgement struct {
	// Verdict is Passed, Failed, or Inconclusive: what was not tested may hide what it fails on.
	Verdict v1beta1.Verdict
	// Message is a sentence.
	Message string
}

// Judge fails a comparison with a difference of a kind that is marked. It is Inconclusive where the
// tests cannot be compared, or where nothing is marked and a step of the first was not tested.
func (c *Comparison) Judge(on FailOn) Judgement {
	if on == FailOnNever {
		return Judgement{Verdict: v1beta1.VerdictPassed}
	}
	if doubts := c.incomparable(); len(doubts) > 0 {
		return Judgement{v1beta1.VerdictInconclusive, doubts[0]}
	}
	if found := c.marked(on); len(found) > 0 {
		return Judgement{v1beta1.VerdictFailed, c.describe(found)}
	}
	if doubts := c.untested(); len(doubts) > 0 {
		return Judgement{v1beta1.VerdictInconclusive, doubts[0]}
	}
	tested := 0
	for i := range c.differences {
		if c.differences[i].Chance != nil {
			tested++
		}
	}
	what := "worse"
	if on == FailOnChange {
		what = "worse or better"
	}
	return Judgement{v1beta1.VerdictPassed, fmt.Sprintf("Of %s that were compared with %s, none is %s beyond chance.", text.Plural(int64(tested), "figure"), c.names[0], what)}
}

// incomparable is why differences say nothing of the targets.
func (c *Comparison) incomparable() []string {
	var list []string
	for test, lt := range c.tests {
		if v := lt.Status.Verdict; v != v1beta1.VerdictPassed && v != v1beta1.VerdictFailed {
			list = append(list, unjudged(c.names[test], v))
		}
		if test > 0 {
			list = append(list, c.otherTraffic(test)...)
		}
	}
	return list
}

// marked are the differences on which a comparison fails.
func (c *Comparison) marked(on FailOn) []Difference {
	return slices.DeleteFunc(slices.Clone(c.differences), func(d Difference) bool {
		return d.Mark == Unmarked || d.Mark == Better && on == FailOnRegression
	})
}

// describe lists differences, the first few of them.
func (c *Comparison) describe(list []Difference) string {
	const most = 3
	var said []string
	for _, d := range list[:min(len(list), most)] {
		of := ""
		if d.Request != "" {
			of = " of request " + d.Request
		}
		if len(c.tests) > 2 {
			of += " of " + d.Test
		}
		said = append(said, fmt.Sprintf("%s%s in step %s is %s instead of %s, %s", d.Metric, of, d.Step, d.Value, d.First, d.String()))
	}
	sentence := strings.Join(said, "; ") + "."
	if more := len(list) - most; more > 0 {
		sentence += fmt.Sprintf(" %s more.", text.Plural(int64(more), "difference"))
	}
	return sentence
}

// untested are the steps of the first test of which no figure of a later one was tested.
func (c *Comparison) untested() []string {
	type cell struct{ test, column int }
	tested := map[cell]bool{}
	for i := range c.differences {
		if d := &c.differences[i]; d.Chance != nil {
			tested[cell{d.test, d.column}] = true
		}
	}
	var list []string
	for test := 1; test < len(c.tests); test++ {
		for column := range c.columns {
			if c.rungs[0][column] != nil && !tested[cell{test, column}] {
				list = append(list, fmt.Sprintf("Step %s of %s was not compared: its figures in either are too few, or not of the planned load.", c.columns[column].Name, c.names[test]))
			}
		}
	}
	if len(c.columns) == 0 {
		list = append(list, "No step was compared: none was measured.")
	}
	return list
}
