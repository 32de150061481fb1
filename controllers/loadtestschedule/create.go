package loadtestschedule

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/history"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtestschedule/decision"
	"github.com/loadtest-dev/loadtest-operator/controllers/writes"
)

// errBehind says that the cache has an earlier state of the schedule.
var errBehind = errors.New("the cache is behind")

// begin creates the LoadTest that starts.
func (r *Reconciler) begin(ctx context.Context, s *v1beta1.LoadTestSchedule, d *decision.Decision, note *note, now time.Time) error {
	if d.Start == nil {
		return nil
	}
	created, err := r.create(ctx, s, d, d.Start, note, now)
	if created {
		note.hasCreated(d.Start.Name, now)
	}
	return err
}

// replace deletes the LoadTests in whose place one starts, if the API server takes that
// one.
func (r *Reconciler) replace(ctx context.Context, s *v1beta1.LoadTestSchedule, d *decision.Decision, note *note, now time.Time) error {
	if len(d.Replaced) == 0 {
		return nil
	}
	taken, err := r.create(ctx, s, d, d.Next, note, now, client.DryRunAll)
	if err != nil || !taken {
		return err
	}
	return r.deleteAll(ctx, d.Replaced)
}

// create creates a LoadTest, unless it is there. It notes a refusal.
func (r *Reconciler) create(ctx context.Context, s *v1beta1.LoadTestSchedule, d *decision.Decision, start *decision.Start, note *note, now time.Time, options ...client.CreateOption) (created bool, err error) {
	whole, err := r.readAgain(ctx, s)
	if err != nil {
		return false, err
	}
	earlier, err := r.earlier(ctx, whole, d.Status.LastPassed)
	if err != nil {
		return false, err
	}
	lt := decision.Run(whole, start.Name, start.Cause, earlier)
	err = r.Client.Create(ctx, lt, append(options, client.FieldOwner(writes.FieldManager))...)
	if apierrors.IsAlreadyExists(err) {
		return r.isOurs(ctx, s, start.Name, note, now)
	}
	if refusal, ok := writes.RefusalOf(err); ok {
		note.isRefused(decision.Problem{Reason: v1beta1.ReasonRunRefused, Message: "The LoadTest is refused: " + refusal.Message, Stalls: refusal.Permanent}, now)
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("create LoadTest: %w", err)
	}
	note.isTaken()
	return true, nil
}

// readAgain reads the schedule whole; the cache has no template. From an earlier state of it,
// a LoadTest might be started that was there and has been deleted since.
func (r *Reconciler) readAgain(ctx context.Context, s *v1beta1.LoadTestSchedule) (*v1beta1.LoadTestSchedule, error) {
	current := &v1beta1.LoadTestSchedule{}
	err := r.Uncached.Get(ctx, client.ObjectKeyFromObject(s), current)
	switch {
	case apierrors.IsNotFound(err):
		return nil, errBehind
	case err != nil:
		return nil, fmt.Errorf("get LoadTestSchedule: %w", err)
	case current.UID != s.UID || current.ResourceVersion != s.ResourceVersion:
		return nil, errBehind
	}
	return current, nil
}

// earlier is what the next LoadTest may be compared with.
func (r *Reconciler) earlier(ctx context.Context, s *v1beta1.LoadTestSchedule, last *v1beta1.RunOfSchedule) (found decision.Earlier, err error) {
	if decision.NeedsLevel(s) {
		reader := history.Reader{Cached: r.Client, Uncached: r.Uncached}
		found.Level, err = reader.Level(ctx, s.Namespace, s.Name, &s.Spec.Template.Spec)
		return found, err
	}
	found.Passed, err = r.passed(ctx, s, last)
	return found, err
}

// passed is the LoadTest with which the next is compared, whole; nil: there is none.
func (r *Reconciler) passed(ctx context.Context, s *v1beta1.LoadTestSchedule, last *v1beta1.RunOfSchedule) (*v1beta1.LoadTest, error) {
	if last == nil || !decision.NeedsBaseline(&s.Spec.Template.Spec) {
		return nil, nil
	}
	lt := &v1beta1.LoadTest{}
	err := r.Uncached.Get(ctx, types.NamespacedName{Namespace: s.Namespace, Name: last.Name}, lt)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("get LoadTest that passed last: %w", err)
	case !decision.IsBaseline(s, lt):
		return nil, nil
	}
	return lt, nil
}

// isOurs says whether the LoadTest that has the name is the one that was to be created.
func (r *Reconciler) isOurs(ctx context.Context, s *v1beta1.LoadTestSchedule, name string, note *note, now time.Time) (bool, error) {
	lt := &v1beta1.LoadTest{}
	err := r.Uncached.Get(ctx, types.NamespacedName{Namespace: s.Namespace, Name: name}, lt)
	switch {
	case apierrors.IsNotFound(err):
		return false, errBehind // it was deleted a moment ago
	case err != nil:
		return false, fmt.Errorf("get LoadTest: %w", err)
	case ownerOf(lt) != s.UID:
		note.isRefused(decision.Problem{Reason: v1beta1.ReasonNameTaken, Message: fmt.Sprintf("A LoadTest named %s exists and does not belong to this schedule; delete it, or rename the schedule.", name)}, now)
		return false, nil
	}
	note.isTaken()
	return true, nil
}

// deleteAll deletes LoadTests, and no others that have their names since.
func (r *Reconciler) deleteAll(ctx context.Context, runs []decision.LoadTest) error {
	for _, run := range runs {
		lt := &v1beta1.LoadTest{}
		lt.Namespace, lt.Name = run.Namespace, run.Name
		uid := types.UID(run.UID)
		err := r.Client.Delete(ctx, lt, client.PropagationPolicy("Background"), client.Preconditions{UID: &uid})
		if client.IgnoreNotFound(err) != nil && !apierrors.IsConflict(err) {
			return fmt.Errorf("delete LoadTest: %w", err)
		}
	}
	return nil
}
