package simulated

import (
	"context"
	"fmt"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// Workers is how many workers each run has.
const Workers = 2

// spec is a ladder of that many rungs, each so long.
func spec(rungs int, length time.Duration) v1beta1.LoadTestSpec {
	ladder := &v1beta1.Ladder{RatePerUser: ptr.To(v1beta1.NewDecimal("1")), Duration: metav1.Duration{Duration: length}}
	for n := range rungs {
		ladder.Users = append(ladder.Users, int32(1000*(n+1)))
	}
	return v1beta1.LoadTestSpec{
		Target:      v1beta1.Target{URL: "http://target." + Namespace + ".svc:8080"},
		Requests:    []v1beta1.Request{{Name: "items", HTTP: &v1beta1.HTTPRequest{Path: "/items/${user}"}}},
		Parallelism: ptr.To[int32](Workers),
		Ladder:      ladder,
		Thresholds:  []v1beta1.Threshold{{Metric: "p95", Max: ptr.To(intstr.Parse("200ms"))}},
	}
}

// Finish creates that many LoadTests that have run: each with 20 steps and their
// histograms, some 250 KB.
func Finish(ctx context.Context, c client.Client, n int) error {
	histogram, err := histogramOf(1_000_000)
	if err != nil {
		return err
	}
	var group errgroup.Group
	group.SetLimit(4)
	for i := range n {
		group.Go(func() error { return finished(ctx, c, fmt.Sprintf("finished-%04d", i), histogram) })
	}
	return group.Wait()
}

func finished(ctx context.Context, c client.Client, name, histogram string) error {
	lt := &v1beta1.LoadTest{Spec: spec(20, 10*time.Second)}
	lt.Namespace, lt.Name = Namespace, name
	lt.Spec.Suspend = true // until its status says that it is over
	if err := c.Create(ctx, lt); err != nil {
		return fmt.Errorf("create LoadTest %s: %w", name, err)
	}
	now := metav1.NewTime(lt.CreationTimestamp.Time)
	instant := ptr.To(metav1.NewMicroTime(now.Time))
	lt.Status = v1beta1.LoadTestStatus{
		ObservedGeneration: lt.Generation, Phase: v1beta1.PhaseFinished, Verdict: v1beta1.VerdictPassed,
		StartTime: &now, CompletionTime: &now, Workers: v1beta1.WorkerCounts{Desired: Workers},
		Steps: plan.Steps(&lt.Spec),
		Conditions: []metav1.Condition{
			{Type: v1beta1.ConditionCarriedOut, Status: metav1.ConditionTrue, Reason: v1beta1.ReasonAllStepsRan, Message: "All steps ran.", LastTransitionTime: now, ObservedGeneration: lt.Generation},
			{Type: v1beta1.ConditionThresholdsMet, Status: metav1.ConditionTrue, Reason: v1beta1.ReasonThresholdsKept, Message: "The threshold was kept.", LastTransitionTime: now, ObservedGeneration: lt.Generation},
			{Type: v1beta1.ConditionFinished, Status: metav1.ConditionTrue, Reason: string(v1beta1.VerdictPassed), Message: "The threshold was kept.", LastTransitionTime: now, ObservedGeneration: lt.Generation},
		},
	}
	for i := range lt.Status.Steps {
		s := &lt.Status.Steps[i]
		s.State, s.StartTime, s.CompletionTime, s.WorkersReporting = v1beta1.StepComplete, instant, instant, Workers
		s.Result = &v1beta1.StepResult{
			Counts: v1beta1.Counts{Sent: s.Load.Requests, Completed: s.Load.Requests, Expected: s.Load.Requests, Outcomes: v1beta1.Outcomes{Success: s.Load.Requests}},
			Due:    s.Load.Requests, Transport: "simulated", Histogram: histogram,
		}
	}
	// With all that the operator adds, so that it has nothing to write.
	lt.Status = lifecycle.Decide(lt, policy.Rules{}, lifecycle.Observed{}, now.Time).Status
	if err := c.Status().Update(ctx, lt); err != nil {
		return fmt.Errorf("finish LoadTest %s: %w", name, err)
	}
	return nil
}

// Wait creates that many LoadTests that may not begin, and as many schedules, which are suspended,
// each of that many bytes.
func Wait(ctx context.Context, c client.Client, n, size int) error {
	var group errgroup.Group
	group.SetLimit(4)
	for i := range n {
		group.Go(func() error {
			lt := &v1beta1.LoadTest{Spec: spec(1, 10*time.Second)}
			lt.Namespace, lt.Name = Namespace, fmt.Sprintf("waiting-%04d", i)
			const requests = 20
			for r := range requests {
				lt.Spec.Requests = append(lt.Spec.Requests, v1beta1.Request{
					Name: fmt.Sprint("large-", r), HTTP: &v1beta1.HTTPRequest{Method: "POST", Body: strings.Repeat("x", size/requests)},
				})
			}
			s := &v1beta1.LoadTestSchedule{Spec: v1beta1.LoadTestScheduleSpec{Suspend: true, Template: v1beta1.LoadTestTemplate{Spec: lt.Spec}}}
			s.Namespace, s.Name = lt.Namespace, lt.Name
			lt.Spec.Suspend = true
			if err := c.Create(ctx, lt); err != nil {
				return fmt.Errorf("create LoadTest %s: %w", lt.Name, err)
			}
			if err := c.Create(ctx, s); err != nil {
				return fmt.Errorf("create LoadTestSchedule %s: %w", s.Name, err)
			}
			return nil
		})
	}
	return group.Wait()
}

// histogramOf is a histogram of that many response times, as it stands in a status.
func histogramOf(n int64) (string, error) {
	s := &step{total: n, length: time.Second, measured: measure.NewMeasurement(1), series: measure.NewSeries(time.Second), random: newRandom(1, 1)}
	s.record(time.Second)
	return s.measured.Requests[0].Response.Encode()
}

// Begin creates that many LoadTests that run at once, each with so many rungs that are so
// long, and returns their names.
func Begin(ctx context.Context, c client.Client, prefix string, n, rungs int, length time.Duration) ([]string, error) {
	var names []string
	var group errgroup.Group
	for i := range n {
		lt := &v1beta1.LoadTest{Spec: spec(rungs, length)}
		lt.Namespace, lt.Name = Namespace, fmt.Sprintf("%s-%02d", prefix, i)
		names = append(names, lt.Name)
		group.Go(func() error { return c.Create(ctx, lt) })
	}
	return names, group.Wait()
}

// Await waits until the LoadTests have finished, and returns them.
func Await(ctx context.Context, c client.Client, names []string) ([]v1beta1.LoadTest, error) {
	done := make([]v1beta1.LoadTest, len(names))
	for i := range done {
		for done[i].Status.CompletionTime == nil {
			if err := c.Get(ctx, client.ObjectKey{Namespace: Namespace, Name: names[i]}, &done[i]); err != nil {
				return nil, fmt.Errorf("get LoadTest %s: %w", names[i], err)
			}
			select {
			case <-ctx.Done():
				return nil, fmt.Errorf("LoadTest %s is %s: %+v: %w", names[i], done[i].Status.Phase, done[i].Status.Conditions, ctx.Err())
			case <-time.After(200 * time.Millisecond):
			}
		}
	}
	return done, nil
}
