package reporttest

import (
	"fmt"
	"math"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// Knee is a ladder against a target that answers 2,000 requests a second: up to
// there it keeps its thresholds, beyond it does not.
func Knee(t *testing.T) *v1beta1.LoadTest { return Ladder(t, 100, 250, 500, 1000, 2000, 4000) }

const (
	capacity = 2000.0
	length   = 10 * time.Second
)

// Ladder is a finished ladder of one request a second for each user.
func Ladder(t *testing.T, users ...int32) *v1beta1.LoadTest {
	t.Helper()
	start := time.Date(2026, 11, 20, 10, 15, 2, 0, time.UTC)
	lt := &v1beta1.LoadTest{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "checkout-ladder"}}
	lt.Spec.Target.Service = &v1beta1.ServiceReference{Name: "checkout"}
	lt.Spec.Requests = []v1beta1.Request{{Name: "cart", HTTP: &v1beta1.HTTPRequest{Path: "/cart"}}}
	one := v1beta1.NewDecimal("1")
	lt.Spec.Ladder = &v1beta1.Ladder{Users: users, RatePerUser: &one, Duration: metav1.Duration{Duration: length}}
	s := &lt.Status
	s.Phase, s.Verdict = v1beta1.PhaseFinished, v1beta1.VerdictPassed
	s.StartTime = &metav1.Time{Time: start}
	s.Workers = v1beta1.WorkerCounts{Desired: 4, Ready: 4}
	for i, n := range users {
		begin := start.Add(time.Duration(i) * (length + time.Second))
		step := v1beta1.StepStatus{
			Name: fmt.Sprint(n), Rung: int32(i) + 1, State: v1beta1.StepComplete, WorkersReporting: 4,
			Load:      v1beta1.StepLoad{Users: n, RatePerUser: &one, Duration: &metav1.Duration{Duration: length}},
			StartTime: &metav1.MicroTime{Time: begin}, Window: &metav1.Duration{Duration: length},
			StartSkew: &metav1.Duration{Duration: 800 * time.Microsecond}, ThresholdState: v1beta1.ThresholdPassed,
			Result: result(t, float64(n)),
		}
		if float64(n) > capacity {
			step.ThresholdState = v1beta1.ThresholdFailed
			s.Verdict = v1beta1.VerdictFailed
		} else {
			s.MaxSustainedUsers = ptr.To(n)
		}
		s.Steps = append(s.Steps, step)
	}
	s.CompletionTime = &metav1.Time{Time: start.Add(time.Duration(len(users)) * (length + time.Second))}
	judge(s)
	return lt
}

// wait is the mean time in the queue, in milliseconds.
func wait(rate float64) float64 {
	if rate > capacity {
		return 600 * rate / capacity
	}
	return 3 / max(1-rate/capacity, 0.02)
}

func judge(s *v1beta1.LoadTestStatus) {
	last := s.Steps[len(s.Steps)-1]
	fast := v1beta1.ThresholdStatus{Name: "fast", Metric: "p95", State: v1beta1.ThresholdPassed, Step: last.Name, Limit: "500ms",
		Observed: text.Short(last.Result.ResponseTime.P95.Duration)}
	fast.Message = "p95 is " + fast.Observed + " in step " + fast.Step + "; at most 500ms is allowed."
	met := metav1.Condition{Type: v1beta1.ConditionThresholdsMet, Status: metav1.ConditionTrue, Reason: v1beta1.ReasonThresholdsKept, Message: "Every threshold was kept."}
	if s.Verdict == v1beta1.VerdictFailed {
		fast.State = v1beta1.ThresholdFailed
		met.Status, met.Reason, met.Message = metav1.ConditionFalse, v1beta1.ReasonThresholdBreached, fast.Message
	}
	s.Thresholds = []v1beta1.ThresholdStatus{fast}
	s.Conditions = []metav1.Condition{met, {Type: v1beta1.ConditionFinished, Status: metav1.ConditionTrue, Reason: string(s.Verdict), Message: met.Message}}
}

// result is what a queue with one place would show: response times grow as the load
// comes near to what the target can do, and without bound beyond.
func result(t *testing.T, rate float64) *v1beta1.StepResult {
	t.Helper()
	due := int64(rate * length.Seconds())
	sent := min(due, int64(1.1*capacity*length.Seconds()))
	good := min(sent, int64(capacity*length.Seconds()))
	h := measure.NewHistogram()
	for i := range sent {
		q := (float64(i) + 0.5) / float64(sent)
		h.Record(time.Duration((4 + wait(rate)*-math.Log(1-q)) * float64(time.Millisecond)))
	}
	encoded, err := h.Encode()
	if err != nil {
		t.Fatal(err)
	}
	times := latency(h)
	return &v1beta1.StepResult{
		Counts: v1beta1.Counts{Sent: sent, Completed: sent, Expected: good, Failed: sent - good,
			Outcomes:    v1beta1.Outcomes{Success: good, ServerError: sent - good},
			StatusCodes: []v1beta1.StatusCodeCount{{Code: 200, Count: good}}},
		Due: due, Unsent: due - sent,
		Throughput: fmt.Sprintf("%.1f", float64(sent)/length.Seconds()), Goodput: fmt.Sprintf("%.1f", float64(good)/length.Seconds()),
		ResponseTime: times, ServiceTime: times, Transport: "http1", Histogram: encoded,
		Generator: &v1beta1.GeneratorStatus{Healthy: true, SendLatenessP99: &metav1.Duration{Duration: 180 * time.Microsecond}, CPUThrottled: "0%", ConnectionsOpened: int64(rate)},
	}
}
