package expect

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/hack/seeds/experiment"
	"github.com/loadtest-dev/loadtest-operator/hack/seeds/record"
)

// Checked is what must be so of every result, whatever the target did. A result of which
// it is not so is wrong, and the run that has it failed.
type Checked struct {
	Tests, Steps      int
	Due, Sent, Failed int64
	// Broken names what is not so.
	Broken []string
}

// Check checks the results of a seed, or all if none is named.
func Check(all record.Results, seed string) *Checked {
	c := &Checked{}
	for _, e := range experiment.All() {
		if all[e.Name] == nil || seed != "" && e.Seed() != seed || all[e.Name].Complete(e.Tests) != nil {
			continue
		}
		for i := range all[e.Name].LoadTests {
			lt := &all[e.Name].LoadTests[i]
			c.test(e.Name+" "+lt.Name, lt)
		}
	}
	return c
}

func (c *Checked) broken(format string, args ...any) {
	c.Broken = append(c.Broken, fmt.Sprintf(format, args...))
}

func (c *Checked) test(name string, lt *v1beta1.LoadTest) {
	c.Tests++
	if !record.Verified(lt) {
		c.broken("%s: its target is not verified", name)
	}
	for _, rung := range record.Rungs(lt) {
		for _, step := range rung.Repetitions {
			c.step(name+" step "+step.Name, step)
		}
	}
}

func (c *Checked) step(name string, step *v1beta1.StepStatus) {
	r := step.Result
	c.Steps++
	c.Due, c.Sent, c.Failed = c.Due+r.Due, c.Sent+r.Sent, c.Failed+r.Failed
	if planned := step.Load.Requests; r.Due != r.Sent+r.Unsent || planned != 0 && planned != r.Due {
		c.broken("%s: %d were planned, %d due, %d sent and %d unsent", name, planned, r.Due, r.Sent, r.Unsent)
	}
	if n := record.Classed(&r.Outcomes); n != r.Sent {
		c.broken("%s: %d were sent, and %d are in a class of outcomes", name, r.Sent, n)
	}
	if r.Failed != r.Sent-r.Expected || r.Expected < 0 || r.Failed < 0 {
		c.broken("%s: of %d that were sent %d were as expected and %d failed", name, r.Sent, r.Expected, r.Failed)
	}
	if l := r.ResponseTime; l != nil {
		if ended := r.Sent - r.Outcomes.Unfinished; l.Samples != ended {
			c.broken("%s: %d ended, and the distribution has %d times", name, ended, l.Samples)
		}
		if !ordered(l) {
			c.broken("%s: the quantiles are not in order, or the mean is above what they allow", name)
		}
	}
}

// Verified, Accounted and Ordered say in sentences what was checked.
func (c *Checked) Verified() string {
	return fmt.Sprintf("Each of %d load tests was answered by the variant that was meant before it sent anything else.", c.Tests)
}

// Accounted is about counts.
func (c *Checked) Accounted() string {
	return fmt.Sprintf("Of %d requests that were due %d were sent and %d failed; each is in one class.", c.Due, c.Sent, c.Failed)
}

// Ordered is about distributions.
func (c *Checked) Ordered() string {
	return fmt.Sprintf("The times of %d steps are of all requests that ended, and their quantiles and means are in order.", c.Steps)
}

// ordered says whether a distribution can be one: its quantiles rise, and its mean is at
// most the mean of 99 % of times at p99 and 1 % at the longest.
func ordered(l *v1beta1.Latency) bool {
	before := time.Duration(0)
	for _, q := range []*metav1.Duration{l.Min, l.P50, l.P75, l.P90, l.P95, l.P99, l.P999, l.P9999, l.Longest} {
		if q == nil {
			continue // too few samples
		}
		if q.Duration < before {
			return false
		}
		before = q.Duration
	}
	if l.Mean == nil || l.Longest == nil {
		return l.Samples == 0
	}
	bound := l.Longest.Duration
	if l.P99 != nil {
		bound = time.Duration(0.99*float64(l.P99.Duration) + 0.011*float64(l.Longest.Duration))
	}
	return l.Mean.Duration <= bound
}
