package command

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/exitcode"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/progress"
)

// ending is the wait until all runs of a scope have ended.
type ending struct {
	config  *config
	cluster *cluster
	begun   time.Time
	// terminates ends each by spec.terminate.
	terminates bool
	// pending are the runs that have begun and not ended.
	pending map[types.UID]string
	// printed are the runs whose line has been printed: their objects may change later.
	printed map[types.UID]bool
}

// await waits until every run that has begun has ended, and prints a line for each. The
// timeout is of the wait alone: however short it is, the runs are looked at.
func (e *ending) await(ctx context.Context, timeout time.Duration) error {
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	scope := []client.ListOption{client.InNamespace("")}
	if e.cluster.explicit {
		scope = []client.ListOption{client.InNamespace(e.cluster.namespace)}
	}
	e.printed = map[types.UID]bool{}
	for {
		err := e.once(ctx, limited, scope)
		switch {
		case err != nil:
			return fmt.Errorf("see what became of the runs: %w", err)
		case len(e.pending) == 0:
			_, err := fmt.Fprintln(e.config.streams.Out, "No run goes on.")
			return err
		case limited.Err() != nil:
			for _, name := range e.pending {
				_, _ = fmt.Fprintf(e.config.streams.Err, "LoadTest %s has not ended: is the operator running, and are --operator-namespace and --config-map its own?\n", name)
			}
			return exitcode.Result(codeNotEnded)
		}
		_ = pause(limited, retry) // when the time is over, the runs are looked at once more
	}
}

// once lists the runs and follows them until all have ended, the watch ends or the time of
// the wait is over. A run that cannot be ended does not keep the others from being ended.
func (e *ending) once(ctx, limited context.Context, scope []client.ListOption) error {
	var list v1beta1.LoadTestList
	if err := e.cluster.List(ctx, &list, scope...); err != nil {
		return err
	}
	known := e.pending
	e.pending = map[types.UID]string{}
	var errs []error
	for i := range list.Items {
		lt := &list.Items[i]
		if name, ok := known[lt.UID]; ok {
			e.pending[lt.UID] = name
		}
		errs = append(errs, e.see(ctx, lt))
	}
	if err := errors.Join(errs...); err != nil || len(e.pending) == 0 {
		return err
	}
	scope = append(scope, &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: list.ResourceVersion}})
	w, err := e.cluster.Watch(limited, &v1beta1.LoadTestList{}, scope...)
	switch {
	case err != nil && limited.Err() != nil:
		return nil // the time is over
	case err != nil:
		return err
	}
	defer w.Stop()
	for event := range w.ResultChan() {
		lt, ok := event.Object.(*v1beta1.LoadTest)
		if !ok {
			return nil // the list is too old
		}
		if event.Type == watch.Deleted {
			delete(e.pending, lt.UID)
		} else if err := e.see(ctx, lt); err != nil {
			return err
		}
		if len(e.pending) == 0 {
			return nil
		}
	}
	return nil
}

// endedBefore reports whether a finished run ended before the wait began, to the second. One may end before
// the runs are listed.
func (e *ending) endedBefore(lt *v1beta1.LoadTest) bool {
	ended := lt.Status.CompletionTime
	return ended == nil || ended.Time.Before(e.begun.Truncate(time.Second))
}

// see takes the state of a LoadTest.
func (e *ending) see(ctx context.Context, lt *v1beta1.LoadTest) error {
	name := lt.Namespace + "/" + lt.Name
	_, known := e.pending[lt.UID]
	switch {
	case progress.Finished(lt):
		delete(e.pending, lt.UID)
		if e.printed[lt.UID] || !known && e.endedBefore(lt) {
			return nil
		}
		e.printed[lt.UID] = true
		return e.print(lt, name)
	case e.terminates && !lt.Spec.Terminate:
		e.pending[lt.UID] = name
		// What was changed or deleted meanwhile comes as an event.
		err := e.cluster.set(ctx, lt, "terminate", true)
		if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			return fmt.Errorf("end LoadTest %s: %w", name, err)
		}
	case e.terminates || lt.Status.StartTime != nil:
		e.pending[lt.UID] = name
	case known: // it is held again
		delete(e.pending, lt.UID)
	}
	return nil
}

// print prints how a run ended.
func (e *ending) print(lt *v1beta1.LoadTest, name string) error {
	why := ""
	if c := meta.FindStatusCondition(lt.Status.Conditions, v1beta1.ConditionFinished); c != nil {
		why = ": " + c.Message
	}
	_, err := fmt.Fprintf(e.config.streams.Out, "LoadTest %s ended after %.1fs, %s%s\n", name, time.Since(e.begun).Seconds(), lt.Status.Verdict, why)
	return err
}
