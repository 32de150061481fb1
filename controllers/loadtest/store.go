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
	"sigs.k8s.io/controller-runtime/pkg/client"

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

// storeArchive stores the archive of a step, once. Unless both results are zero it is not
// stored, and again is when to try again.
func (p *pass) storeArchive(ctx context.Context, s *lifecycle.Store) (again time.Duration, err error) {
	a := &p.note.archiving
	if a.isStored(s.Name) {
		return 0, nil
	}
	packed, err := results.Archive(p.lt, s.Step, s.Report)
	if err != nil { // it would be the same the next time
		a.giveUp(s.Step, err.Error())
		return time.Millisecond, nil
	}
	err = p.createResults(ctx, s.Name, packed)
	if err == nil {
		a.stored = storedArchive{name: s.Name, sum: archive.Sum(packed), size: len(packed)}
		return 0, nil
	}
	refusal, refused := writes.RefusalOf(err)
	if foreign := (foreignError{}); errors.As(err, &foreign) {
		refusal, refused = writes.Refusal{Message: foreign.Error(), Permanent: true}, true
	}
	if refused {
		p.Metrics.refused(refusedResults)
		if a.failed(s.Step, refusal.Permanent, maxStoreTries, refusal.Message) {
			return time.Millisecond, nil
		}
		return storeRetry, nil
	}
	var answer apierrors.APIStatus
	if errors.As(err, &answer) && a.failed(s.Step, false, maxStoreErrors, text.Clean(err.Error(), writes.MaxMessage)) {
		return time.Millisecond, nil
	}
	return 0, fmt.Errorf("store the results of step %d: %w", s.Step, err)
}

// foreignError is that another object has the name of an archive.
type foreignError struct{ name string }

// Error is a sentence for the status.
func (e foreignError) Error() string {
	return fmt.Sprintf("ConfigMap %s exists, but this run did not store it.", e.name)
}

// createResults creates the ConfigMap. One that is there must be this one, which a
// process before this one created.
func (p *pass) createResults(ctx context.Context, name string, packed []byte) error {
	err := p.Client.Create(ctx, desired.Results(p.lt, name, packed), client.FieldOwner(writes.FieldManager))
	if !apierrors.IsAlreadyExists(err) {
		return err
	}
	var found corev1.ConfigMap
	if err := p.Uncached.Get(ctx, client.ObjectKey{Namespace: p.lt.Namespace, Name: name}, &found); err != nil {
		return err
	}
	if !metav1.IsControlledBy(&found, p.lt) || !found.DeletionTimestamp.IsZero() || !bytes.Equal(found.BinaryData[archive.Key], packed) {
		return foreignError{name}
	}
	return nil
}
