package session

import (
	"context"
	"errors"
	"fmt"
	"time"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/loadworker/attack"
	"github.com/loadtest-dev/loadtest-operator/loadworker/pace"
	"github.com/loadtest-dev/loadtest-operator/loadworker/setup"
)

// prologue is what is sent before the worker is ready.
type prologue struct {
	config setup.Config
	fill   *setup.Fill
	warmUp *setup.WarmUp
}

// newPrologue reads an assignment's setup. It has a client of its own, so that its
// connections are no part of the first step's.
func newPrologue(a *workerv1.Assignment, c Config, t *traffic, first attack.StepShare) (*prologue, error) {
	p := &prologue{config: setup.Config{
		Source: t.source, Timeout: time.Duration(a.GetTarget().GetTimeoutNanos()),
		Worker: a.GetWorker(), Workers: max(a.GetWorkers(), 1),
	}}
	var err error
	if p.config.Client, err = newClient(a.GetTarget(), c); err != nil {
		return nil, err
	}
	if s := a.GetSetup().GetFill(); s != nil {
		share := toShare(s.GetShare())
		p.fill = &setup.Fill{
			Request: int(s.GetRequest()), Number: share.Number, Count: share.Count, Capture: s.GetCapture(), Into: t.captured,
		}
		if err := p.fill.Check(p.config); err != nil {
			return nil, err
		}
		if share.Count == 0 && t.takesCaptured() {
			return nil, setup.ErrNothingCaptured
		}
	}
	if s := a.GetSetup().GetWarmUp(); s != nil {
		p.warmUp = &setup.WarmUp{Request: int(s.GetRequest()), Duration: time.Duration(s.GetDurationNanos()), Lines: warmUpLines(first)}
		return p, p.warmUp.Check(p.config)
	}
	return p, nil
}

// arrivalsLines is over how many connections a target is warmed up for arrivals,
// which have no number of users.
const arrivalsLines = 16

func warmUpLines(first attack.StepShare) int {
	if _, ok := first.Load.(attack.Arrivals); ok {
		return arrivalsLines
	}
	return int(min(first.Users(), setup.MaxLines))
}

func (t *traffic) takesCaptured() bool {
	for i := range t.source.Len() {
		if t.captured != nil && t.source.Takes(i, t.captured) {
			return true
		}
	}
	return false
}

func toShare(s *workerv1.Share) pace.Share {
	return pace.Share{First: s.GetFirst(), Stride: s.GetStride(), Count: s.GetCount()}
}

// run runs the setup. It tells how far it is, which is no reason against being
// ready: that is the refusal in the end, or nil.
func (p *prologue) run(ctx context.Context, tell func(prepared)) *refusal {
	if p.fill != nil && p.fill.Count > 0 {
		err := p.fill.Run(ctx, p.config, func(sent int64) {
			tell(prepared{refusal: &refusal{err: fmt.Errorf("setup: %d of %d requests sent", sent, p.fill.Count)}})
		})
		var unreachable *setup.Unreachable
		switch {
		case errors.As(err, &unreachable):
			return &refusal{workerv1.ReasonTargetUnreachable, err}
		case err != nil:
			return &refusal{workerv1.ReasonInvalidSpec, err}
		}
	}
	if p.warmUp != nil {
		tell(prepared{refusal: &refusal{err: fmt.Errorf("setup: the target is warmed up for %v", p.warmUp.Duration)}})
		p.warmUp.Run(ctx, p.config)
	}
	return nil
}
