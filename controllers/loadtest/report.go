package loadtest

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
	"github.com/loadtest-dev/loadtest-operator/controllers/writes"
)

// report writes the status if it changed, and emits events and metrics after.
func (r *Reconciler) report(ctx context.Context, lt *v1alpha1.LoadTest, d lifecycle.Decision, note *note, now time.Time) error {
	if d.Delete || note.unwritable || equality.Semantic.DeepEqual(lt.Status, d.Status) {
		return nil
	}
	next := lt.DeepCopy()
	next.Status = d.Status
	// The lock makes a decision from a stale cache fail instead of overwriting
	// what is newer.
	patch := client.MergeFromWithOptions(lt, client.MergeFromWithOptimisticLock{})
	if err := r.Client.Status().Patch(ctx, next, patch, client.FieldOwner(writes.FieldManager)); apierrors.IsNotFound(err) {
		return nil
	} else if err != nil {
		return fmt.Errorf("patch status: %w", err)
	}
	note.written = lifecycle.Written{At: now, Size: size(next) + note.storedBytes}
	note.stored, note.storedBytes = "", 0
	note.version = next.ResourceVersion
	r.budget.spend(now, note.written.Size)
	for _, e := range d.Events {
		kind := corev1.EventTypeNormal
		if e.Warning {
			kind = corev1.EventTypeWarning
		}
		r.Recorder.Eventf(lt, nil, kind, e.Reason, "Run", "%s", e.Message)
	}
	r.Metrics.wrote(&lt.Status, &d.Status, note.written.Size)
	if r.Finished != nil && lt.Status.Verdict == "" && d.Status.Verdict != "" {
		r.Finished(lt.UID, &d.Status)
	}
	logTransitions(ctx, lt, &d.Status)
	return nil
}

// logTransitions writes one line for each change of a run. The logger has the namespace
// and the name.
func logTransitions(ctx context.Context, lt *v1alpha1.LoadTest, after *v1alpha1.LoadTestStatus) {
	for _, t := range transitions(&lt.Status, after) {
		log.FromContext(ctx).Info("transition", "run", lt.UID, "of", t.of, "from", t.from, "to", t.to, "step", t.step, "reason", t.reason)
	}
}

// size is what an object takes in the store: it is stored as JSON, with its managed
// fields.
func size(lt *v1alpha1.LoadTest) int {
	raw, err := json.Marshal(lt)
	if err != nil {
		return 0 // not reached: it came as JSON
	}
	return len(raw)
}

// lastLine is the last line of a log that says anything.
func lastLine(s string) string {
	s = strings.TrimSpace(s)
	return s[strings.LastIndexByte(s, '\n')+1:]
}
