//go:build e2e

package faults

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/fault"
)

// disturbances are the cases of those kinds: a worker, or the target, of a run of each kind of
// load over each protocol does not run for a while. The seed draws some of the moments.
func disturbances(seed uint64, of ...fault.Disturbance) []single {
	var all []single
	for _, c := range fault.Cases(seed) {
		if !slices.Contains(of, c.Disturbance) {
			continue
		}
		note := ""
		if c.Drawn {
			note = fmt.Sprintf(", SEED=%d", seed)
		}
		all = append(all, single{
			fault: string(c.Disturbance), run: c.Run(), note: note, load: speak(c.Protocol).over(c.Load), want: c.Want,
			after: c.After, lasts: c.Lasts, full: c.Full,
			alone: c.Disturbance.IsOfTarget(), host: c.Disturbance != fault.TargetHangs,
			inject: disturb(c.Disturbance),
		})
	}
	return all
}

// speak is the protocol of that name.
func speak(name string) spoken {
	all := append([]spoken{usual}, allProtocols...)
	return all[slices.IndexFunc(all, func(p spoken) bool { return p.name == name })]
}

// disturb is how a disturbance is injected.
func disturb(d fault.Disturbance) func(context.Context, *subject) (undo, error) {
	switch d {
	case fault.TargetPaused:
		return func(ctx context.Context, s *subject) (undo, error) {
			var pod corev1.Pod
			if err := cluster.API.Get(ctx, client.ObjectKeyFromObject(s.target.Pod("")), &pod); err != nil {
				return nil, err
			}
			return freeze(&pod)
		}
	case fault.TargetHangs:
		return func(ctx context.Context, s *subject) (undo, error) {
			return func(ctx context.Context) error { return s.target.Behave(ctx, "ok") }, s.target.Behave(ctx, "hang")
		}
	case fault.WorkerThrottled:
		return func(ctx context.Context, s *subject) (undo, error) {
			return intoFirst(func(_ context.Context, pod *corev1.Pod) (undo, error) { return throttle(pod, &s.held) })(ctx, s)
		}
	}
	hold := map[fault.Disturbance]func(*corev1.Pod) (undo, error){
		fault.WorkerStopped: freeze, fault.WorkerFrozen: freezeGroup,
	}[d]
	return intoFirst(func(_ context.Context, pod *corev1.Pod) (undo, error) { return hold(pod) })
}
