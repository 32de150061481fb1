package report

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/controllers/format"
)

// displaced is how many requests the generator sent so late that they were another load.
func displaced(r *v1alpha1.StepResult) string {
	if r.Displaced == 0 {
		return ""
	}
	return fmt.Sprintf(" · displaced %d%s", r.Displaced, share(r.Displaced, r.Sent))
}

// notCertain is how many of the failed requests may not have failed.
func notCertain(r *v1alpha1.StepResult) string {
	text := ""
	if r.Undecided > 0 {
		text += fmt.Sprintf(", %d of them undecided", r.Undecided)
	}
	if r.Excused > 0 {
		text += fmt.Sprintf(", %d of them while their worker did not run", r.Excused)
	}
	return text
}

// Downtime is for how large a part of a step the target was down, empty if it was not.
func Downtime(r *v1alpha1.StepResult) string {
	if r.Downtime == "0%" {
		return ""
	}
	return r.Downtime
}

// Outstanding is how many requests were outstanding in a step at a time, and whether they
// became more and more; empty if the latter is not known.
func Outstanding(o *v1alpha1.OutstandingResult) string {
	switch {
	case o == nil:
		return ""
	case o.Grows(), o.IsUncertain():
		return fmt.Sprintf("%s on average, growing by %s", strings.TrimSuffix(o.Mean, ".0"), Growth(o))
	case o.Trend == v1alpha1.OutstandingSteady:
		return fmt.Sprintf("%s on average, steady", strings.TrimSuffix(o.Mean, ".0"))
	}
	return ""
}

// Growth is by how many requests a second those grew that were outstanding, and those without
// the generator's part if they differ; empty if they did not grow.
func Growth(o *v1alpha1.OutstandingResult) string {
	if o.WithoutGenerator == "" {
		return format.Rate(o.Growth)
	}
	return fmt.Sprintf("%s (%s without the generator's own delay)", format.Rate(o.Growth), format.Rate(o.WithoutGenerator))
}

// piledUp says in which step the outstanding requests grew fastest, unless what is said
// already has it.
func piledUp(steps []v1alpha1.StepStatus, said string) []Notice {
	var worst *v1alpha1.StepStatus
	var count int64
	for i := range steps {
		step := &steps[i]
		if step.Result == nil || !step.Result.Outstanding.Grows() {
			continue
		}
		if count++; worst == nil || parsed(step.Result.Outstanding.Growth) > parsed(worst.Result.Outstanding.Growth) {
			worst = step
		}
	}
	if worst == nil {
		return nil
	}
	growth := strings.TrimSuffix(worst.Result.Outstanding.Growth, ".0")
	if count == 1 && strings.Contains(said, fmt.Sprintf("Outstanding requests grew by %s/s in step %s", growth, worst.Name)) {
		return nil
	}
	return []Notice{{"Growing", fmt.Sprintf("Step %s: outstanding requests grew by %s/s, so that its load cannot be kept for long%s.", worst.Name, growth, others(count))}}
}

// down says in which step the target was down for longest, unless a threshold does.
func down(s *v1alpha1.LoadTestStatus) []Notice {
	for i := range s.Thresholds {
		if t := &s.Thresholds[i]; t.Metric == v1alpha1.MetricDowntime && t.State != v1alpha1.ThresholdPassed {
			return nil
		}
	}
	var worst *v1alpha1.StepStatus
	var count int64
	for i := range s.Steps {
		step := &s.Steps[i]
		if step.Result == nil || parsed(step.Result.Downtime) <= tolerableDowntime {
			continue
		}
		if count++; worst == nil || parsed(step.Result.Downtime) > parsed(worst.Result.Downtime) {
			worst = step
		}
	}
	if worst == nil {
		return nil
	}
	return []Notice{{"Downtime", fmt.Sprintf("Step %s: the target was down for %s of the window%s.", worst.Name, worst.Result.Downtime, others(count))}}
}

// parsed is a number of a result, or a share in percent; 0 for what is neither.
func parsed(text string) float64 {
	v, _ := strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64)
	return v
}

// tolerableDowntime is the maximum of the default threshold, in percent.
const tolerableDowntime = 0.5
