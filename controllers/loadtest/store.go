package loadtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/results"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/desired"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
	"github.com/loadtest-dev/loadtest-operator/controllers/writes"
	"github.com/loadtest-dev/loadtest-operator/measure/archive"
	"github.com/loadtest-dev/loadtest-operator/text"
)

const (
	// maxStoreTries is how often an archive may be refused, storeRetry the time between
	// two tries: the run waits for so long with its workers, for each step.
	maxStoreTries = 3
	storeRetry    = time.Second
	// maxStoreErrors is how often it may fail for a reason that may pass: half a minute
	// by the back-off. An API server that does not answer is waited for, since the
	// status cannot be written either.
	maxStoreErrors = 15
)

// store stores the archive of a step, once. The status that names it must not be written
// unless both results are zero: again is when to try again.
func (r *Reconciler) store(ctx context.Context, lt *v1alpha1.LoadTest, d *lifecycle.Decision, note *note, now time.Time) (again time.Duration, err error) {
	s := d.Store
	switch {
	case s == nil:
		return 0, nil
	case note.stored == s.Name:
		note.sign(&d.Status)
		return 0, nil
	}
	packed, err := results.Archive(lt, s.Step, s.Report)
	if err != nil { // it would be the same the next time
		note.giveUp(s.Step, err.Error())
		return time.Millisecond, nil
	}
	err = r.createResults(ctx, lt, s.Name, packed)
	if err == nil {
		note.stored, note.storedBytes, note.storedSum = s.Name, len(packed), archive.Sum(packed)
		note.sign(&d.Status)
		return 0, nil
	}
	refusal, refused := refusedBy(err, now)
	if foreign := (foreignError{}); errors.As(err, &foreign) {
		refusal, refused = &lifecycle.Refusal{Message: foreign.Error(), Permanent: true}, true
	}
	if refused {
		r.Metrics.refused(refusedResults)
		if note.notStored(s.Step, refusal.Permanent, maxStoreTries, refusal.Message) {
			return time.Millisecond, nil
		}
		return storeRetry, nil
	}
	var answer apierrors.APIStatus
	if errors.As(err, &answer) && note.notStored(s.Step, false, maxStoreErrors, text.Clean(err.Error(), writes.MaxMessage)) {
		return time.Millisecond, nil
	}
	return 0, fmt.Errorf("store the results of step %d: %w", s.Step, err)
}

// after asks for a pass after a while, or for a retry of one that failed.
func after(again time.Duration, err error) (ctrl.Result, error) {
	if err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{RequeueAfter: again}, nil
}

// foreignError is that another object has the name of an archive.
type foreignError struct{ name string }

// Error is a sentence for the status.
func (e foreignError) Error() string {
	return fmt.Sprintf("ConfigMap %s is there and is not what this run stored.", e.name)
}

// createResults creates the ConfigMap. One that is there must be this one, which a
// process before this one created.
func (r *Reconciler) createResults(ctx context.Context, lt *v1alpha1.LoadTest, name string, packed []byte) error {
	err := r.Client.Create(ctx, desired.Results(lt, name, packed), client.FieldOwner(writes.FieldManager))
	if !apierrors.IsAlreadyExists(err) {
		return err
	}
	var found corev1.ConfigMap
	if err := r.Uncached.Get(ctx, client.ObjectKey{Namespace: lt.Namespace, Name: name}, &found); err != nil {
		return err
	}
	if !metav1.IsControlledBy(&found, lt) || !found.DeletionTimestamp.IsZero() || !bytes.Equal(found.BinaryData[archive.Key], packed) {
		return foreignError{name}
	}
	return nil
}

// sign has the status that names what was stored say its sum. Another process comes to the
// same one: the archive of a step is the same bytes each time.
func (n *note) sign(s *v1alpha1.LoadTestStatus) {
	for i := range s.ResultsRef {
		if ref := &s.ResultsRef[i]; ref.ConfigMap == n.stored {
			ref.SHA256 = n.storedSum
		}
	}
}

// notStored notes that an archive was not stored, and says whether it is given up.
func (n *note) notStored(step int, permanent bool, tries int, why string) bool {
	if n.storing != step {
		n.storing, n.storeTries = step, 0
	}
	if n.storeTries++; !permanent && n.storeTries < tries {
		return false
	}
	n.giveUp(step, why)
	return true
}

func (n *note) giveUp(step int, why string) {
	n.unstored = &lifecycle.Unstored{Step: step, Message: why}
}
