//go:build e2e

package faults

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/fault"
)

// shared is a fault that hits all runs at once. Runs in different states are brought
// to their instants together, so that one injection shows what becomes of each.
type shared struct {
	name     string
	instants []fault.Instant
	inject   func(context.Context) (undo, error)
	// lasts is how long the fault does. With 0, a fault that is taken back at all is so
	// when all runs have ended.
	lasts time.Duration
	// node is the only one for all workers, targetNode that of the target; empty: any.
	node, targetNode string
	// deadNode is the one that the fault stops.
	deadNode string
	// want is the expectation of a run, where it is not to be kept whole.
	want *fault.Expectation
}

// shared injects these faults one after another.
func (c *campaign) shared() {
	ctx := c.t.Context()
	for _, next := range c.sharedFaults() {
		x, err := next(ctx)
		if !c.takes(x.name) {
			continue
		}
		if err == nil {
			err = c.injectShared(ctx, x)
		}
		if err != nil {
			c.t.Errorf("%s: %v", x.name, err)
		}
		if err := cluster.AwaitOperator(ctx); err != nil {
			c.t.Fatalf("the operator does not come back after %s: %v", x.name, err)
		}
	}
}

// injectShared brings a run to each instant, injects the fault, and judges the runs.
func (c *campaign) injectShared(ctx context.Context, x shared) error {
	target, err := c.counter(ctx, x.targetNode)
	if err != nil {
		return err
	}
	all := make([]timed, len(x.instants))
	for i, instant := range x.instants {
		all[i] = newTimed(target, x, instant)
	}
	each(all, func(r *timed) {
		if r.IsHeld() {
			r.err = r.hold(ctx)
		}
	})
	at := time.Now().Add(fault.Prologue(x.instants) + time.Second)
	each(all, func(r *timed) { r.lead(ctx, at) })
	undone, err := x.inject(ctx)
	if err != nil {
		for i := range all {
			all[i].err = fmt.Errorf("inject: %w", err)
		}
	}
	end := time.Now().Add(x.lasts)
	if x.lasts > 0 {
		err = takeBack(ctx, undone, end)
	}
	each(all, func(r *timed) {
		r.follow(ctx, end)
		r.judge(ctx, c, r.err)
	})
	if x.lasts == 0 && undone != nil {
		err = undone(ctx)
	}
	return err
}

func takeBack(ctx context.Context, undone undo, at time.Time) error {
	if err := cluster.SleepUntil(ctx, at); err != nil {
		return err
	}
	return undone(ctx)
}

// timed is a run that is brought to its instant.
type timed struct {
	fault.Instant
	*subject
	err error
}

func newTimed(target cluster.Counter, x shared, i fault.Instant) timed {
	want := fault.Expectation{Verdicts: i.Verdicts(), Exact: i.Terminated == 0}
	if x.want != nil {
		want = *x.want
	}
	want.Within = i.Load.Length() + x.lasts + slack
	if change := i.Load.Change; x.node != "" {
		i.Load.Change = func(spec *v1beta1.LoadTestSpec) {
			if change != nil {
				change(spec)
			}
			spec.Worker = onNode(x.node)
		}
	}
	s := newSubject(target, x.name, i.Name, i.Load, want)
	s.deadNode = x.deadNode
	return timed{Instant: i, subject: s}
}

// lead brings the run to its instant, and notes where it is then.
func (r *timed) lead(ctx context.Context, at time.Time) {
	step := func(after time.Duration, do func(context.Context) error) {
		if r.err == nil && after < 0 {
			if r.err = cluster.SleepUntil(ctx, at.Add(after)); r.err == nil {
				r.err = do(ctx)
			}
		}
	}
	step(r.Created, r.create)
	step(r.Released, r.release)
	step(r.Terminated, r.terminate)
	step(-50*time.Millisecond, r.hit) // reading them all takes as long
}

// follow does what comes after the fault.
func (r *timed) follow(ctx context.Context, end time.Time) {
	if r.err != nil || r.Released <= 0 {
		return
	}
	if r.err = cluster.SleepUntil(ctx, end.Add(r.Released)); r.err == nil {
		r.err = r.release(ctx)
	}
}

// each does something for all runs side by side.
func each(all []timed, do func(*timed)) {
	var group sync.WaitGroup
	for i := range all {
		group.Go(func() { do(&all[i]) })
	}
	group.Wait()
}

// some are the instants of those names.
func some(names ...string) []fault.Instant {
	return slices.DeleteFunc(fault.Instants(), func(i fault.Instant) bool { return !slices.Contains(names, i.Name) })
}
