package lifecycle_test

import (
	"reflect"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/verdict"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// A breach that cannot be mended stops the run, once, and at once; seconds are looked at where every
// worker that is left has reported and stays.
func TestWhatAborts(t *testing.T) {
	for name, tc := range map[string]struct {
		edit             func(*v1beta1.LoadTest, *lifecycle.Observed)
		aborts, remember bool
	}{
		"a breach": {func(*v1beta1.LoadTest, *lifecycle.Observed) {}, true, false},
		"in a step that is done": {func(_ *v1beta1.LoadTest, seen *lifecycle.Observed) {
			seen.Workers[0].Final, seen.Workers[1].Final = true, true
		}, false, false},
		"of a run that stops": {func(lt *v1beta1.LoadTest, _ *lifecycle.Observed) {
			lt.Status.Internal.StopTime = &metav1.MicroTime{Time: began.Add(18 * time.Second)}
		}, false, false},
		"that is not to abort": {func(lt *v1beta1.LoadTest, _ *lifecycle.Observed) { lt.Spec.Thresholds[0].OnBreach = "" }, false, false},
		"in what began late": {func(_ *v1beta1.LoadTest, seen *lifecycle.Observed) {
			seen.Step.Merged.LastStart = began.Add(time.Minute)
		}, false, false},
		"without a result": {func(_ *v1beta1.LoadTest, seen *lifecycle.Observed) {
			seen.Step.Merged, seen.LiveFrom = measure.NewMeasurement(2), began.Add(time.Hour)
			seen.Step.Merged.Due = 50
		}, false, false},
		"without a result, of an unknown number": {func(lt *v1beta1.LoadTest, seen *lifecycle.Observed) {
			endless(lt, seen)
			seen.Step.Merged, seen.LiveFrom = measure.NewMeasurement(2), began.Add(time.Hour)
		}, false, false},
		"before a result is written": {func(_ *v1beta1.LoadTest, seen *lifecycle.Observed) { seen.LiveFrom = began.Add(time.Hour) }, true, false},
		"of an audit at the end": {func(lt *v1beta1.LoadTest, seen *lifecycle.Observed) {
			lt.Spec.Thresholds[0].Metric, lt.Spec.Thresholds[0].Max = v1beta1.MetricOverLimitGrants, ptr.To(intstr.FromInt32(0))
			seen.LiveFrom = began.Add(time.Hour)
		}, false, false},
		"without any report":   {func(_ *v1beta1.LoadTest, seen *lifecycle.Observed) { seen.Step = nil }, false, false},
		"of an unknown number": {endless, false, true},
		"with a worker gone": {func(lt *v1beta1.LoadTest, seen *lifecycle.Observed) {
			endless(lt, seen)
			lt.Status.Workers.Desired, lt.Status.Internal.GoneWorkers = 3, []int32{2}
			seen.Workers = append(seen.Workers, exchange.Worker{})
		}, false, true},
		"one has not reported": {func(lt *v1beta1.LoadTest, seen *lifecycle.Observed) { endless(lt, seen); seen.Step.Reporting = 1 }, false, false},
		"one is not connected": {func(lt *v1beta1.LoadTest, seen *lifecycle.Observed) {
			endless(lt, seen)
			seen.Workers[1].Connected = false
		}, false, false},
		"one is to be deleted": {func(lt *v1beta1.LoadTest, seen *lifecycle.Observed) {
			endless(lt, seen)
			seen.Workers[1].PodEnding = true
		}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			lt := limited(0)
			lt.Spec.Worker = &v1beta1.Worker{OnLoss: v1beta1.LossContinue}
			lt.Spec.Thresholds = []v1beta1.Threshold{{Metric: v1beta1.MetricFailureRate, Max: ptr.To(intstr.Parse("1%")), OnBreach: v1beta1.BreachAbort}}
			lt.Status.Workers.Desired, lt.Status.Steps[0].Load.Requests = 2, 100
			seen := lastReport(50, false)
			seen.Workers = append(seen.Workers, seen.Workers[0])
			seen.Step.Step, seen.Step.Reporting, seen.Step.MeanWindow = 0, 2, 10*time.Second
			tc.edit(lt, &seen)
			lt.Status.Thresholds = verdict.Thresholds(&lt.Spec, lt.Status.Requests, lt.Status.Steps)
			d := lifecycle.Decide(lt, policy.Rules{}, seen, began.Add(20*time.Second))
			s := d.Status
			if aborts := s.Internal.StopTime != nil && s.Internal.StopTime.Time.Equal(began.Add(20*time.Second)); aborts != tc.aborts || (s.Thresholds[0].AbortTime != nil) != tc.aborts {
				t.Errorf("stopped from %v by %+v", s.Internal.StopTime, s.Thresholds[0])
			}
			same.As(t, "seconds are remembered", tc.remember, !reflect.DeepEqual(d.Seconds, verdict.Seconds{}))
		})
	}
}

// endless is a step of which it is not known how many requests it will be.
func endless(lt *v1beta1.LoadTest, _ *lifecycle.Observed) {
	lt.Status.Steps[0].Load.Requests = 0
	lt.Spec.Thresholds[0].Metric, lt.Spec.Thresholds[0].Max = "p95", ptr.To(intstr.Parse("10ms"))
}

// A step of which nothing was reported failed, too, if a threshold stopped it.
func TestStepThatWasAbortedWithoutAReport(t *testing.T) {
	lt := limited(0)
	lt.Status.Internal.StopTime = &metav1.MicroTime{Time: began.Add(18 * time.Second)}
	lt.Spec.Thresholds = []v1beta1.Threshold{{Metric: v1beta1.MetricFailureRate, Max: ptr.To(intstr.Parse("1%")), OnBreach: v1beta1.BreachAbort}}
	lt.Status.Thresholds = verdict.Thresholds(&lt.Spec, lt.Status.Requests, lt.Status.Steps)
	lt.Status.Thresholds[0].State, lt.Status.Thresholds[0].AbortTime = v1beta1.ThresholdFailed, lt.Status.Internal.StopTime
	s := decide(lt, awaited(exchange.Worker{Pod: exchange.PodEnded}), 19*time.Second).Status
	if s.Verdict == "" || s.Steps[0].ThresholdState != v1beta1.ThresholdFailed {
		t.Errorf("verdict %s, the step is %s", s.Verdict, s.Steps[0].ThresholdState)
	}
}
