//go:build e2e

package faults

import (
	"context"
	"fmt"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/fault"
)

// users is a step of 30 requests a second, one of each user.
func users(length time.Duration) fault.Step {
	return fault.Step{Users: 30, Every: time.Second, Length: length}
}

// workerFaults end one worker of a run, or stop it for a while, in the first or the
// last step of a run with one or several of them.
func workerFaults() []single {
	kinds := []struct {
		name   string
		inject func(context.Context, *corev1.Pod) (undo, error)
		lasts  time.Duration
		host   bool
		ci     bool
		grace  bool // the worker has the time to report
	}{
		{name: "worker deleted", inject: deleteGracefully, ci: true, grace: true},
		{name: "worker killed", inject: func(_ context.Context, pod *corev1.Pod) (undo, error) { return nil, signal(pod, syscall.SIGKILL) }, host: true, ci: true},
		{name: "worker evicted", inject: evict, grace: true},
		{name: "worker out of memory", inject: func(ctx context.Context, pod *corev1.Pod) (undo, error) { return nil, exhaust(ctx, pod) }, host: true},
		{name: "worker stopped 12s", inject: func(_ context.Context, pod *corev1.Pod) (undo, error) { return freeze(pod) }, lasts: 12 * time.Second, host: true},
	}
	var all []single
	for _, k := range kinds {
		for _, w := range []struct {
			name  string
			count int
		}{{"one worker", 1}, {"three workers", 3}} {
			for step, when := range []string{"first step", "last step"} {
				// Without its only worker a run may have no result at all.
				want := fault.Expectation{Verdicts: []string{fault.Inconclusive}, WorkerGone: true}
				switch {
				case k.grace:
					want.HandedOver, want.Reason = true, v1beta1.ReasonWorkerLost+":"
				case w.count == 1 && k.lasts == 0:
					want.Verdicts = append(want.Verdicts, fault.Error)
				}
				all = append(all, single{
					fault: k.name, run: w.name + ", " + when, step: step, lasts: k.lasts, want: want,
					host: k.host, full: !k.ci || (w.count == 1) == (step == 0),
					load:   fault.Load{Workers: w.count, Steps: []fault.Step{users(6 * time.Second), users(6 * time.Second)}, Change: limitMemory},
					inject: intoFirst(k.inject),
				})
			}
		}
	}
	for _, p := range allProtocols {
		all = append(all, single{
			fault: "worker killed", run: "arrivals over " + p.name, step: 1, load: p.over(twoSteps()), full: true,
			want: fault.Expectation{Verdicts: []string{fault.Inconclusive}, WorkerGone: true}, inject: intoFirst(deleteAtOnce),
		})
	}
	return all
}

// intoFirst injects a fault into the first worker of a run.
func intoFirst(inject func(context.Context, *corev1.Pod) (undo, error)) func(context.Context, *subject) (undo, error) {
	return func(ctx context.Context, s *subject) (undo, error) {
		pods, err := s.workers(ctx)
		if err != nil {
			return nil, err
		}
		return inject(ctx, &pods[0])
	}
}

// limitMemory gives the workers a limit, so that their memory can be used up.
func limitMemory(spec *v1beta1.LoadTestSpec) {
	spec.Worker = &v1beta1.Worker{Resources: &corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("50m"), corev1.ResourceMemory: resource.MustParse("64Mi")},
		Limits:   corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("256Mi")},
	}}
}

func deleteGracefully(ctx context.Context, pod *corev1.Pod) (undo, error) {
	return nil, cluster.API.Delete(ctx, pod)
}

func deleteAtOnce(ctx context.Context, pod *corev1.Pod) (undo, error) {
	return nil, cluster.API.Delete(ctx, pod, client.GracePeriodSeconds(0))
}

func evict(ctx context.Context, pod *corev1.Pod) (undo, error) {
	return nil, cluster.API.SubResource("eviction").Create(ctx, pod, &policyv1.Eviction{
		ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name},
	})
}

// partitions keep all workers of a run and the operator apart. A step goes on for
// longer, unless the partition is to last beyond the end of the step and its limit.
func partitions() []single {
	var all []single
	add := func(how cut, lasts, first time.Duration, what string, verdicts []string, full bool) {
		want := fault.Expectation{Verdicts: verdicts, Exact: len(verdicts) == 1}
		load := fault.Load{Workers: 2, Steps: []fault.Step{users(first), users(4 * time.Second)}}
		want.Within = load.Length() + lasts + slack
		all = append(all, single{
			fault: fmt.Sprintf("cut from operator, %s", how.name), run: fmt.Sprintf("%s, %s", lasts, what),
			load: load, want: want, after: 3 * time.Second, lasts: lasts, host: true, full: full,
			inject: func(ctx context.Context, s *subject) (undo, error) {
				workers, err := s.workers(ctx)
				if err != nil {
					return nil, err
				}
				operators, err := cluster.OperatorPods(ctx)
				if err != nil {
					return nil, err
				}
				return cutPods(ctx, s.lt.Name, how, workers, operators)
			},
		})
	}
	for _, lasts := range []time.Duration{120 * time.Second, 31 * time.Second, 5 * time.Second} {
		for _, how := range cuts {
			add(how, lasts, lasts+12*time.Second, "within a step", []string{fault.Passed}, lasts > 31*time.Second || how.name == "reset")
			add(how, lasts, 6*time.Second, "over its end", []string{fault.Passed, fault.Inconclusive}, true)
		}
	}
	return all
}

// targetFaults are of the target: they count against it.
func targetFaults() []single {
	var all []single
	add := func(name string, lasts time.Duration, inject func(context.Context, cluster.Counter) error) {
		all = append(all, single{
			fault: name, run: "two workers", step: 1, lasts: lasts, alone: true,
			want: fault.Expectation{Verdicts: []string{fault.Failed}},
			load: fault.Load{Workers: 2, Steps: []fault.Step{users(3 * time.Second), users(8 * time.Second)}},
			inject: func(ctx context.Context, s *subject) (undo, error) {
				back := func(ctx context.Context) error { return s.target.Behave(ctx, "ok") }
				if lasts == 0 {
					back = nil
				}
				return back, inject(ctx, s.target)
			},
		})
	}
	mode := func(mode string) func(context.Context, cluster.Counter) error {
		return func(ctx context.Context, c cluster.Counter) error { return c.Behave(ctx, mode) }
	}
	add("target restarted", 0, func(ctx context.Context, c cluster.Counter) error { return c.Crash(ctx) })
	add("target refuses 2s", 2*time.Second, mode("refuse"))
	add("target hangs", 20*time.Second, mode("hang"))
	add("target answers 500", 20*time.Second, mode("wrong"))
	return all
}

// lifecycleFaults are what a user, or a deadline, does to a run.
func lifecycleFaults() []single {
	two := fault.Load{Workers: 2, Steps: []fault.Step{users(6 * time.Second), users(4 * time.Second)}}
	changed := func(f func(*v1beta1.LoadTestSpec)) fault.Load {
		l := two
		l.Change = f
		return l
	}
	none := func(context.Context, *subject) (undo, error) { return nil, nil }
	return []single{
		{fault: "LoadTest deleted", run: "two workers", load: two, want: fault.Expectation{Verdicts: []string{fault.Gone}, Within: 25 * time.Second},
			inject: func(ctx context.Context, s *subject) (undo, error) { return nil, cluster.API.Delete(ctx, &s.lt) }},
		{fault: "suspended 8s", run: "in a step", load: two, lasts: 8 * time.Second, want: fault.Expectation{Verdicts: []string{fault.Passed}, Exact: true},
			inject: func(ctx context.Context, s *subject) (undo, error) {
				return s.release, s.patch(ctx, `{"suspend":true}`)
			}},
		{fault: "terminated", run: "in a step", load: two, want: fault.Expectation{Verdicts: []string{fault.Canceled}, Within: 20 * time.Second},
			inject: func(ctx context.Context, s *subject) (undo, error) { return nil, s.terminate(ctx) }},
		{fault: "active deadline", run: "in a step", want: fault.Expectation{Verdicts: []string{fault.Error}, Within: 30 * time.Second, Reason: v1beta1.ReasonDeadlineExceeded},
			load:   changed(func(spec *v1beta1.LoadTestSpec) { spec.ActiveDeadlineSeconds = ptr.To[int64](10) }),
			inject: none},
		{fault: "start deadline", run: "no node", step: -1, want: fault.Expectation{Verdicts: []string{fault.Error}, Within: 25 * time.Second, Reason: v1beta1.ReasonStartDeadlineExceeded},
			load: changed(func(spec *v1beta1.LoadTestSpec) {
				spec.StartDeadlineSeconds = ptr.To[int64](6)
				spec.Worker = &v1beta1.Worker{NodeSelector: map[string]string{"no-such": "node"}}
			}), inject: none},
		{fault: "TTL of 1s", run: "last step", step: 1, want: fault.Expectation{Verdicts: []string{fault.Gone}, Within: 20 * time.Second},
			load:   changed(func(spec *v1beta1.LoadTestSpec) { spec.TTLSecondsAfterFinished = ptr.To[int32](1) }),
			inject: none},
	}
}
