package fault

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
)

// Read returns the part of an outcome that stands in the status. The verdict is empty
// before the run has finished.
func Read(s *v1beta1.LoadTestStatus) Outcome {
	var o Outcome
	if meta.IsStatusConditionTrue(s.Conditions, v1beta1.ConditionFinished) {
		o.Verdict = string(s.Verdict)
	}
	o.Reason = reason(s.Conditions)
	o.Limited = slices.ContainsFunc(s.Thresholds, isLimited)
	o.Down = down(s)
	for i := range s.Steps {
		step := &s.Steps[i]
		if r := step.Result; r != nil {
			o.Throttled = max(o.Throttled, throttled(r.Generator))
			o.Displaced = o.Displaced || r.Generator != nil && r.Generator.LoadDisplaced
			o.Limited = o.Limited || o.Displaced
			o.Due += r.Due
			o.Sent += r.Sent
			o.Completed += r.Completed
		}
		if m := step.MissingAtMost; m != nil {
			if o.Missing == nil {
				o.Missing = new(int64)
			}
			*o.Missing += *m
		}
	}
	return o
}

// throttled is for which part of the workers' time, in percent, their CPU limits held them back.
func throttled(g *v1beta1.GeneratorStatus) float64 {
	if g == nil {
		return 0
	}
	share, err := strconv.ParseFloat(strings.TrimSuffix(g.CPUThrottled, "%"), 64)
	if err != nil {
		return 0 // absent: it was not measured
	}
	return share
}

// isLimited says whether a threshold is undecided since the time may be the generator's or the
// target's. Downtime has a worker that did not run as its only doubt, or
// requests that were still waited for.
func isLimited(t v1beta1.ThresholdStatus) bool {
	return t.State == v1beta1.ThresholdInconclusive && (t.Reason == v1beta1.ReasonGeneratorUncertain || t.Metric == v1beta1.MetricDowntime)
}

// down is for how long the target was down, by the worst breach of a threshold on downtime.
func down(s *v1beta1.LoadTestStatus) (longest time.Duration) {
	for _, t := range s.Thresholds {
		at := slices.IndexFunc(s.Steps, func(step v1beta1.StepStatus) bool { return step.Name == t.Step })
		if t.Metric != v1beta1.MetricDowntime || t.State != v1beta1.ThresholdFailed || at < 0 || s.Steps[at].Window == nil {
			continue
		}
		// The share has two digits behind the point.
		if share, err := strconv.ParseFloat(strings.TrimSuffix(t.Observed, "%"), 64); err == nil {
			longest = max(longest, time.Duration(share/100*float64(s.Steps[at].Window.Duration)).Round(time.Millisecond))
		}
	}
	return longest
}

// reason is the message of the condition that explains the verdict: what failed, else
// what was lost, else what was breached, else what is not known, else what limited.
func reason(conditions []metav1.Condition) string {
	for _, c := range []struct {
		kind   string
		status metav1.ConditionStatus
	}{
		{v1beta1.ConditionCarriedOut, metav1.ConditionFalse},
		{v1beta1.ConditionWorkersReady, metav1.ConditionFalse},
		{v1beta1.ConditionThresholdsMet, metav1.ConditionFalse},
		{v1beta1.ConditionThresholdsMet, metav1.ConditionUnknown},
		{v1beta1.ConditionGeneratorHealthy, metav1.ConditionFalse},
	} {
		if found := meta.FindStatusCondition(conditions, c.kind); found != nil && found.Status == c.status {
			return found.Reason + ": " + found.Message
		}
	}
	return ""
}

// At is where a run is, by its status.
func At(s *v1beta1.LoadTestStatus, now time.Time) string {
	switch {
	case meta.IsStatusConditionTrue(s.Conditions, v1beta1.ConditionFinished):
		return "finished"
	case s.Phase != v1beta1.PhaseRunning || int(s.CurrentStep) >= len(s.Steps):
		return strings.ToLower(string(s.Phase))
	}
	step := s.Steps[s.CurrentStep]
	what := fmt.Sprintf("step %d", s.CurrentStep+1)
	length := step.Load.Duration
	if step.Load.IsPause() {
		what, length = "pause", step.Load.Pause
	}
	if s.Internal.StopTime != nil {
		what += ", cut"
	}
	if step.StartTime == nil || length == nil {
		return what
	}
	if now.Before(step.StartTime.Time) {
		return fmt.Sprintf("%s, in %s", what, tenths(step.StartTime.Sub(now)))
	}
	return fmt.Sprintf("%s, %s of %s", what, tenths(now.Sub(step.StartTime.Time)), length.Duration)
}

func tenths(d time.Duration) string { return fmt.Sprintf("%.1fs", d.Seconds()) }
