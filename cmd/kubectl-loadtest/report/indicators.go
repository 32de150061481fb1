package report

import (
	"fmt"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// indicator is a share of a step's requests that is worth a line once it is
// greater than what is usual.
type indicator struct {
	reason string
	// percent is what the share may be without being shown.
	percent int64
	of      func(r *v1beta1.StepResult) (part, whole int64)
	// says is what became of them.
	says string
}

// shown are the indicators, what spoils figures before what the target did. The
// bounds of 1 % are those of the default thresholds, that of all failures is the one
// at which a service is commonly called overloaded.
var shown = []indicator{
	{"Unsent", 0, func(r *v1beta1.StepResult) (int64, int64) { return r.Unsent, r.Due }, "were due and never sent"},
	{"SentLate", 1, func(r *v1beta1.StepResult) (int64, int64) { return r.Late, r.Sent }, "were sent more than 10ms late"},
	{"Failures", 5, func(r *v1beta1.StepResult) (int64, int64) { return r.Failed - r.Undecided, r.Sent - r.InFlight }, "failed"},
	{"RateLimited", 1, failing(func(c *v1beta1.Counts) int64 { return c.Outcomes.RateLimited - refusedWell(c) }), "were rate-limited, although they do not expect that"},
	{"Timeouts", 1, failing(func(c *v1beta1.Counts) int64 { return c.Outcomes.Timeout }), "timed out"},
	{"ServerErrors", 1, failing(func(c *v1beta1.Counts) int64 { return c.Outcomes.ServerError }), "were answered by a server error"},
	{"Connections", 1, failing(unconnected), "had no connection: refused, reset, host not resolved, or TLS"},
	{"Streams", 1, failing(cut), "were streams that broke off, stalled or ended early"},
	{"Unfinished", 0, failing(func(c *v1beta1.Counts) int64 { return c.Outcomes.Unfinished }), "were still in flight at the end, and have no response time"},
	{"Undecided", 0, func(r *v1beta1.StepResult) (int64, int64) { return r.Undecided, r.Sent - r.InFlight }, "had waited for less than their timeout at the end: it is not known whether they failed"},
	{"Excused", 0, func(r *v1beta1.StepResult) (int64, int64) { return r.Excused, r.Sent - r.InFlight }, "timed out while their worker did not run: they may have been answered in time"},
}

func failing(part func(*v1beta1.Counts) int64) func(*v1beta1.StepResult) (int64, int64) {
	return func(r *v1beta1.StepResult) (int64, int64) { return part(&r.Counts), r.Sent - r.InFlight }
}

func unconnected(c *v1beta1.Counts) int64 {
	o := &c.Outcomes
	return o.Refused + o.Reset + o.DNS + o.TLS
}

// cut is how many streams did not come to their end.
func cut(c *v1beta1.Counts) int64 {
	o := &c.Outcomes
	return o.BrokenOff + o.Stalled + o.EndedEarly
}

// indicators are what the figures of the steps show, one line for each kind.
func indicators(steps []v1beta1.StepStatus) []Notice {
	list := lacking(steps)
	for _, i := range shown {
		if message := i.worst(steps); message != "" {
			list = append(list, Notice{i.reason, message})
		}
	}
	return append(list, sparse(steps)...)
}

// worst describes the step in which the share is greatest, "" if it is small in all.
func (i indicator) worst(steps []v1beta1.StepStatus) string {
	at, count := worst(steps, func(r *v1beta1.StepResult) (float64, bool) {
		part, whole := i.of(r)
		return float64(part) / float64(whole), part > 0 && 100*part > i.percent*whole
	})
	if at == nil {
		return ""
	}
	part, whole := i.of(at.Result)
	return fmt.Sprintf("Step %s: %d of %s %s (%s)%s.", at.Name, part, text.Plural(whole, "request"), i.says, text.Percent(part, whole), others(count))
}

// worst is the first step in which a value is greatest, of those in which it is worth a
// notice, and how many these are; nil: there is none.
func worst(steps []v1beta1.StepStatus, of func(*v1beta1.StepResult) (value float64, notable bool)) (at *v1beta1.StepStatus, count int64) {
	greatest := 0.0
	for i := range steps {
		step := &steps[i]
		if step.Result == nil {
			continue
		}
		value, notable := of(step.Result)
		if !notable {
			continue
		}
		if count++; at == nil || value > greatest {
			at, greatest = step, value
		}
	}
	return at, count
}

// others says that there are more steps like the worst one.
func others(count int64) string {
	if count == 1 {
		return ""
	}
	return fmt.Sprintf(", the most of %d such steps", count)
}

// lacking says which steps were cut, and how many requests are missing at most.
func lacking(steps []v1beta1.StepStatus) []Notice {
	var list []Notice
	var cut, missing, bound int64
	var first, last, covered string
	for i := range steps {
		step := &steps[i]
		if step.State == v1beta1.StepCut {
			if cut++; first == "" {
				first = step.Name
			}
			if covered == "" && step.Coverage != "" {
				covered = fmt.Sprintf(" %s of the planned requests of step %s are in the result, from %s.", step.Coverage, step.Name, text.Plural(int64(step.WorkersReporting), "worker"))
			}
		}
		if step.MissingAtMost != nil {
			missing, bound, last = missing+1, bound+*step.MissingAtMost, step.Name
		}
	}
	switch {
	case cut == 1:
		list = append(list, Notice{"StepCut", fmt.Sprintf("Step %s did not run as planned.%s", first, covered)})
	case cut > 1:
		list = append(list, Notice{"StepCut", fmt.Sprintf("%d steps did not run as planned; the first is %s.%s", cut, first, covered)})
	}
	switch {
	case missing == 1:
		list = append(list, Notice{"Missing", fmt.Sprintf("Up to %s of step %s may have been sent but are missing from all figures.", text.Plural(bound, "request"), last)})
	case missing > 1:
		list = append(list, Notice{"Missing", fmt.Sprintf("Up to %s of %d steps may have been sent but are missing from all figures.", text.Plural(bound, "request"), missing)})
	}
	return list
}

// sparse says where the samples are too few for the 99th percentile.
func sparse(steps []v1beta1.StepStatus) []Notice {
	var count int64
	var least *v1beta1.StepStatus
	for i := range steps {
		r := steps[i].Result
		if r == nil || r.ResponseTime == nil || r.ResponseTime.P99 != nil {
			continue
		}
		if count++; least == nil || r.ResponseTime.Samples < least.Result.ResponseTime.Samples {
			least = &steps[i]
		}
	}
	if least == nil {
		return nil
	}
	message := fmt.Sprintf("Step %s has %s, too few for p99", least.Name, text.Plural(least.Result.ResponseTime.Samples, "response time"))
	if count > 1 {
		message += fmt.Sprintf(", the fewest of %d such steps", count)
	}
	return []Notice{{"FewSamples", message + "."}}
}
