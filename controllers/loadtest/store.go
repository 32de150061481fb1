package loadtest

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
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
	packed, err := results.Archive(p.lt, s.Step, s.Report, s.Usage)
	if err != nil { // it would be the same the next time
		a.giveUp(s.Step, err.Error())
		return time.Millisecond, nil
	}
	// The name follows from the content: what has it is this archive, which a process before this
	// one created. An editor of the namespace may have replaced it since: then its sum differs from the status.
	configMap := results.StoredName(p.lt, s.Step, packed)
	err = p.Client.Create(ctx, desired.Results(p.lt, configMap, packed), client.FieldOwner(writes.FieldManager))
	if err == nil || apierrors.IsAlreadyExists(err) {
		a.stored = storedArchive{name: s.Name, configMap: configMap, sum: archive.Sum(packed), size: len(packed)}
		return 0, nil
	}
	if refusal, refused := writes.RefusalOf(err); refused {
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
