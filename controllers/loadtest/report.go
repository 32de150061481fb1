package loadtest

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
	"github.com/loadtest-dev/loadtest-operator/controllers/writes"
)

// writeStatus writes the status if it changed, and emits events and metrics after.
func (p *pass) writeStatus(ctx context.Context) error {
	lt, d, note := p.lt, &p.decision, p.note
	if d.Delete || note.refusals.unwritable || equality.Semantic.DeepEqual(lt.Status, d.Status) {
		return nil
	}
	next := lt.DeepCopy()
	next.Status = d.Status
	// The lock makes a decision from a stale cache fail instead of overwriting
	// what is newer.
	patch := client.MergeFromWithOptions(lt, client.MergeFromWithOptimisticLock{})
	if err := p.Client.Status().Patch(ctx, next, patch, client.FieldOwner(writes.FieldManager)); apierrors.IsNotFound(err) {
		return nil
	} else if err != nil {
		return fmt.Errorf("patch status: %w", err)
	}
	note.written = lifecycle.Written{At: p.now, Size: sizeInStore(next) + note.archiving.written()}
	note.version = next.ResourceVersion
	p.budget.spend(p.now, note.written.Size)
	for _, e := range d.Events {
		kind := corev1.EventTypeNormal
		if e.Warning {
			kind = corev1.EventTypeWarning
		}
		p.Recorder.Eventf(lt, nil, kind, e.Reason, "Run", "%s", e.Message)
	}
	p.Metrics.wrote(lt, &d.Status, note.written.Size)
	if p.Finished != nil && lt.Status.Verdict == "" && d.Status.Verdict != "" {
		p.Finished(lt.UID, &d.Status)
	}
	logTransitions(ctx, lt, &d.Status)
	return nil
}

// logTransitions writes one line for each change of a run. The logger has the namespace
// and the name.
func logTransitions(ctx context.Context, lt *v1beta1.LoadTest, after *v1beta1.LoadTestStatus) {
	for _, t := range transitions(&lt.Status, after) {
		log.FromContext(ctx).Info("transition", "run", lt.UID, "of", t.of, "from", t.from, "to", t.to, "step", t.step, "reason", t.reason)
	}
}
