package comparison

import (
	"fmt"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/rungs"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/baseline"
)

// warnings are what else differs, and what is left out.
func (c *Comparison) warnings() []string {
	var list []string
	first := c.tests[0]
	for i, lt := range c.tests {
		if v := lt.Status.Verdict; v != v1beta1.VerdictPassed && v != v1beta1.VerdictFailed {
			list = append(list, unjudged(c.names[i], v))
		}
		if i > 0 {
			list = append(list, c.differs(i, first, lt)...)
		}
	}
	for test := range c.tests {
		list = append(list, c.leftOut(test)...)
	}
	return list
}

func unjudged(name string, v v1beta1.Verdict) string {
	return fmt.Sprintf("The verdict of %s is %s: its figures may not describe its target.", name, v)
}

// differs is what a test sent otherwise than the first.
func (c *Comparison) differs(i int, first, lt *v1beta1.LoadTest) []string {
	var list []string
	if a, b := first.Status.TargetURL, lt.Status.TargetURL; a != b {
		list = append(list, fmt.Sprintf("The targets differ: %s sent to %s, %s to %s.", c.names[0], a, c.names[i], b))
	}
	return append(list, c.otherTraffic(i)...)
}

// otherTraffic is in what a test sent another traffic than the first; empty: in nothing.
func (c *Comparison) otherTraffic(test int) []string {
	what := baseline.OtherTraffic(c.tests[test], c.tests[0])
	if what == "" {
		return nil
	}
	return []string{fmt.Sprintf("The traffic of %s is not that of %s: %s.", c.names[test], c.names[0], what)}
}

// leftOut are the steps of which a test has no figures, and why.
func (c *Comparison) leftOut(test int) []string {
	var list []string
	for column, rung := range c.rungs[test] {
		if rung == nil {
			list = append(list, fmt.Sprintf("%s has no step %s of that load.", c.names[test], c.columns[column].Name))
			continue
		}
		for _, step := range rung.Steps {
			switch {
			case step.TargetChanged():
				list = append(list, fmt.Sprintf("Step %s of %s is left out: its target was changed during the step.", step.Name, c.names[test]))
			case !rungs.IsWhole(step, c.tests[test].Status.Workers.Desired):
				list = append(list, fmt.Sprintf("Step %s of %s is left out: it is %s, or lacks a worker.", step.Name, c.names[test], step.State))
			case !rungs.IsSound(step.Result):
				list = append(list, fmt.Sprintf("Step %s of %s is left out: the generator did not send the planned load.", step.Name, c.names[test]))
			}
		}
	}
	return list
}
