//go:build e2e

package faults

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/fault"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// undo takes a fault back.
type undo func(context.Context) error

// single is a fault that hits one run and no other.
type single struct {
	// fault and run are the names in its line, with a note beside them.
	fault, run, note string
	load             fault.Load
	want             fault.Expectation
	// step is the index of the step in which the fault comes; -1: before the run is
	// created. It comes in the middle of the step, or after that time in it.
	step   int
	after  time.Duration
	inject func(ctx context.Context, s *subject) (undo, error)
	// lasts is how long the fault does, if it is taken back.
	lasts time.Duration
	// alone says that the run needs a namespace and a target of its own.
	alone bool
	// host says that the fault needs the local cluster, full that it is for the full
	// suite only.
	host, full bool
}

// singlesAtOnce is for two cores: the generators of more would disturb each other.
const singlesAtOnce = 8

// single injects all faults that hit one run only, some at once.
func (c *campaign) single() {
	shared, err := c.counter(c.t.Context(), "")
	must.Succeed(c.t, err)
	for _, g := range []struct {
		name string
		all  []single
	}{
		{"cut from the operator", partitions()},
		{"a worker ends, or stops for long", workerFaults()},
		{"the target fails", targetFaults()},
		{"a user or a deadline ends it", lifecycleFaults()},
		{"workers are not admitted", admissionFaults()},
		{"one worker stopped for 4 s of 20 s never makes it Failed", disturbances(c.seed, fault.WorkerStopped)},
		{"a target that stands still for 14 of 20 s is Failed for any kind of load", disturbances(c.seed, fault.TargetPaused, fault.TargetHangs)},
		{"one worker frozen or throttled for 4 s of 20 s never makes it Failed", disturbances(c.seed, fault.WorkerFrozen, fault.WorkerThrottled)},
	} {
		c.t.Run(g.name, func(t *testing.T) {
			t.Parallel()
			c.in(t).inject(shared, g.all)
		})
	}
}

// inject injects faults into runs against that target, unless they need one of their own.
func (c *campaign) inject(target cluster.Counter, all []single) {
	ctx := c.t.Context()
	var group sync.WaitGroup
	for _, x := range all {
		if x.full && !c.full || x.host && !c.local || !c.takes(x.fault) {
			continue
		}
		c.slots <- struct{}{}
		group.Go(func() {
			defer func() { <-c.slots }()
			s := newSubject(target, x.fault, x.run, x.load, x.want)
			s.line.Run += x.note
			s.judge(ctx, c, c.injectInto(ctx, s, x))
			if s.target != target { // each that is left looks at the clock all the time
				if _, err := deleteAtOnce(ctx, s.target.Pod("")); err != nil {
					c.t.Errorf("delete the target of %s: %v", s.lt.Name, err)
				}
			}
		})
	}
	group.Wait()
}

// counter starts a target in a namespace of its own, in which runs over each protocol find
// what they need.
func (c *campaign) counter(ctx context.Context, node string) (cluster.Counter, error) {
	ns, err := c.namespace(ctx)
	if err == nil {
		err = errors.Join(trustCounters(ctx, ns), cluster.DescribeHealth(ctx, ns))
	}
	if err != nil {
		return cluster.Counter{}, err
	}
	return cluster.StartCounter(ctx, ns, node)
}

// injectInto brings a run to the instant of a fault, and injects it.
func (c *campaign) injectInto(ctx context.Context, s *subject, x single) error {
	if x.alone {
		own, err := c.counter(ctx, "")
		if err != nil {
			return err
		}
		s.target, s.lt.Namespace = own, own.Namespace
	}
	if x.step < 0 {
		s.begun, s.line.At = time.Now(), "not created"
	} else if err := s.bringTo(ctx, x.step, x.after); err != nil {
		return err
	}
	undone, err := x.inject(ctx, s)
	injected := time.Now() // a busy machine may take a second for it
	if err != nil {
		if undone != nil { // what was done of it
			err = errors.Join(err, undone(ctx))
		}
		return fmt.Errorf("inject: %w", err)
	}
	if x.step < 0 {
		if err := s.create(ctx); err != nil {
			return err
		}
	}
	if undone == nil {
		return nil
	}
	if err := cluster.SleepUntil(ctx, injected.Add(x.lasts)); err != nil {
		return err
	}
	return undone(ctx)
}

// bringTo creates the run, and waits for the middle of a step, or that time in it.
func (s *subject) bringTo(ctx context.Context, step int, after time.Duration) error {
	if err := s.create(ctx); err != nil {
		return err
	}
	for i := range step + 1 { // each within the time of one
		start, err := s.awaitStep(ctx, i)
		if err != nil {
			return err
		}
		length := s.load.Steps[i].Length
		if i == step {
			length = cmp.Or(after, length/2)
		}
		if err := cluster.SleepUntil(ctx, start.Add(length)); err != nil {
			return err
		}
	}
	return s.hit(ctx)
}
