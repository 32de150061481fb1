package main

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

// diagnose shows why pods of a namespace are not ready: their status, the last
// events, and the last log lines of those that are not. It is silent if the user
// interrupted the demo.
func (d *demo) diagnose(ctx context.Context, namespace string) {
	if interrupted(ctx) {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), diagnoseLimit)
	defer cancel()
	in := "--namespace=" + namespace
	// A command that fails prints its own error; the rest is still shown.
	_ = d.show(ctx, "kubectl", "get", "pods", in, "--output=wide")
	_ = d.show(ctx, "kubectl", "get", "events", in, "--sort-by=.lastTimestamp", "--field-selector=type=Warning")
	var pods corev1.PodList
	if err := d.get(ctx, &pods, "pods", in); err != nil {
		_, _ = fmt.Fprintln(d.err, err)
		return
	}
	for i := range pods.Items {
		if !ready(&pods.Items[i]) {
			_ = d.show(ctx, "kubectl", "logs", in, pods.Items[i].Name, "--all-containers", "--tail=20")
		}
	}
}

// interrupted tells Ctrl-C from a phase whose time is up.
func interrupted(ctx context.Context) bool { return errors.Is(ctx.Err(), context.Canceled) }

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
