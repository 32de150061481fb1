package deploy

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// diagnoseLimit bounds the search for a reason; the limit of what failed is
// used up by then.
const diagnoseLimit = 20 * time.Second

// Diagnose shows why pods of a namespace are not ready: their status, the last
// events, and the last log lines of those that are not. It is silent if the user
// interrupted.
func (t Tools) Diagnose(ctx context.Context, namespace string) {
	if Interrupted(ctx) {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), diagnoseLimit)
	defer cancel()
	in := "--namespace=" + namespace
	// A command that fails prints its own error; the rest is still shown.
	_ = t.Show(ctx, "kubectl", "get", "pods", in, "--output=wide")
	_ = t.Show(ctx, "kubectl", "get", "events", in, "--sort-by=.lastTimestamp", "--field-selector=type=Warning")
	var pods corev1.PodList
	if err := t.Get(ctx, &pods, "pods", in); err != nil {
		_, _ = fmt.Fprintln(t.Err, err)
		return
	}
	for i := range pods.Items {
		if !ready(&pods.Items[i]) {
			_ = t.Show(ctx, "kubectl", "logs", in, pods.Items[i].Name, "--all-containers", "--tail=20")
		}
	}
}

// Interrupted tells Ctrl-C from a phase whose time is up.
func Interrupted(ctx context.Context) bool { return errors.Is(ctx.Err(), context.Canceled) }

// ready says whether a pod serves, or has done its work.
func ready(pod *corev1.Pod) bool {
	if pod.Status.Phase == corev1.PodSucceeded {
		return true
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}
