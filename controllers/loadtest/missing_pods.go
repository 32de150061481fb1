package loadtest

import (
	"context"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/fields"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
	"github.com/loadtest-dev/loadtest-operator/controllers/writes"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// failedCreate is the reason of the Job controller's events that tell why it
// could not create a pod. Nothing in the Job itself does.
const failedCreate = "FailedCreate"

// maxEvents is how many events are read: the names of 1,000 pods that are refused make
// as many events of one sentence.
const maxEvents = 50

// explainMissingPods files under the workers without a pod why there is none: a
// quota, a limit range or an admission policy. Events are in no cache, and there
// may be many: they are read only while a run waits for pods of which none has
// come for a while.
func (p *pass) explainMissingPods(ctx context.Context, job *batchv1.Job, pods []corev1.Pod) error {
	if !lifecycle.MissesPods(p.lt, p.seen) || p.now.Sub(lastCreated(job, pods)) < lifecycle.PodsExpected {
		return nil
	}
	var events eventsv1.EventList
	err := p.Uncached.List(ctx, &events, client.InNamespace(job.Namespace), client.MatchingFieldsSelector{
		Selector: fields.Set{"regarding.uid": string(job.UID), "reason": failedCreate}.AsSelector(),
	}, client.Limit(maxEvents))
	if apierrors.IsForbidden(err) {
		return nil // an operator that may not read events runs tests all the same
	}
	if err != nil {
		return fmt.Errorf("list events of the Job: %w", err)
	}
	message := refusal(events.Items)
	for i := range p.seen.Workers {
		if w := &p.seen.Workers[i]; message != "" && w.Pod == exchange.PodAbsent {
			w.PodReason, w.PodMessage = v1beta1.ReasonCreateRefused, "the pod cannot be created: "+message
		}
	}
	return nil
}

// lastCreated is when the Job, or the last of its pods, was created.
func lastCreated(job *batchv1.Job, pods []corev1.Pod) time.Time {
	last := job.CreationTimestamp.Time
	for i := range pods {
		if at := pods[i].CreationTimestamp.Time; at.After(last) {
			last = at
		}
	}
	return last
}

// refusal is what the latest of the events says, without the name of the pod. Anyone who may create events
// can write one.
func refusal(events []eventsv1.Event) string {
	var latest time.Time
	message := ""
	for i := range events {
		e := &events[i]
		if at := lastSeen(e); message == "" || at.After(latest) {
			latest, message = at, text.Clean(writes.WithoutObject(e.Note), maxPodMessage)
		}
	}
	return message
}

// lastSeen is when an event last happened, in one of the three ways of saying it.
func lastSeen(e *eventsv1.Event) time.Time {
	at := e.EventTime.Time
	if d := e.DeprecatedLastTimestamp.Time; d.After(at) {
		at = d
	}
	if e.Series != nil && e.Series.LastObservedTime.After(at) {
		at = e.Series.LastObservedTime.Time
	}
	return at
}
