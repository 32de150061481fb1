package report

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// displaced is how many requests the generator sent so late that they were another load.
func displaced(r *v1beta1.StepResult) string {
	if r.Displaced == 0 {
		return ""
	}
	return fmt.Sprintf(" · displaced %d%s", r.Displaced, share(r.Displaced, r.Sent))
}

// Redirects is how many redirects the requests followed, empty if they followed none.
func Redirects(r *v1beta1.StepResult) string {
	if r.Redirects == 0 {
		return ""
	}
	return fmt.Sprintf(" · redirects followed %d", r.Redirects)
}

// notCertain is how many of the failed requests may not have failed.
func notCertain(r *v1beta1.StepResult) string {
	said := ""
	if r.Undecided > 0 {
		said += fmt.Sprintf(", %d of them undecided", r.Undecided)
	}
	if r.Excused > 0 {
		said += fmt.Sprintf(", %d of them while their worker did not run", r.Excused)
	}
	return said
}

// Downtime is for how large a part of a step the target was down, empty if it was not.
func Downtime(r *v1beta1.StepResult) string {
	if r.Downtime == "0%" {
		return ""
	}
	return r.Downtime
}

// Outstanding is how many requests were outstanding in a step at a time, and whether they
// became more and more; empty if the latter is not known.
func Outstanding(o *v1beta1.OutstandingResult) string {
	switch {
	case o == nil:
		return ""
	case o.Grows(), o.IsUncertain():
		return fmt.Sprintf("%s on average, growing by %s", text.Decimal(o.Mean), Growth(o))
	case o.Trend == v1beta1.OutstandingSteady:
		return fmt.Sprintf("%s on average, steady", text.Decimal(o.Mean))
	}
	return ""
}

// Growth is by how many requests a second those grew that were outstanding, and those without
// the generator's part if they differ; empty if they did not grow.
func Growth(o *v1beta1.OutstandingResult) string {
	if o.WithoutGenerator == "" {
		return text.Rate(o.Growth)
	}
	return fmt.Sprintf("%s (%s without the generator's own delay)", text.Rate(o.Growth), text.Rate(o.WithoutGenerator))
}

// piledUp says in which step the outstanding requests grew fastest, unless what is said
// already has it.
func piledUp(steps []v1beta1.StepStatus, said string) []Notice {
	at, count := worst(steps, func(r *v1beta1.StepResult) (float64, bool) {
		return growth(r.Outstanding), r.Outstanding.Grows()
	})
	if at == nil || strings.Contains(said, text.Grew(at.Result.Outstanding.Growth, at.Name)) {
		return nil
	}
	return []Notice{{"Growing", fmt.Sprintf("Step %s: outstanding requests grew by %s/s, so its load cannot be kept for long%s.",
		at.Name, text.Decimal(at.Result.Outstanding.Growth), others(count))}}
}

func growth(o *v1beta1.OutstandingResult) float64 {
	if o == nil {
		return 0
	}
	return Number(o.Growth)
}

// down says in which step the target was down for longest, beyond what the default threshold
// allows, unless a threshold says it.
func down(s *v1beta1.LoadTestStatus) []Notice {
	allowed := 0.0
	for i := range s.Thresholds {
		switch t := &s.Thresholds[i]; {
		case t.Metric != v1beta1.MetricDowntime:
		case t.State != v1beta1.ThresholdPassed:
			return nil
		case t.Default:
			allowed = Number(t.Limit)
		}
	}
	at, count := worst(s.Steps, func(r *v1beta1.StepResult) (float64, bool) {
		return Number(r.Downtime), Number(r.Downtime) > allowed
	})
	if at == nil {
		return nil
	}
	return []Notice{{"Downtime", fmt.Sprintf("Step %s: the target was down for %s of the window%s.", at.Name, at.Result.Downtime, others(count))}}
}

// Number is a number of a result, or a share in percent; 0 for what is neither.
func Number(text string) float64 {
	v, _ := strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64)
	return v
}
