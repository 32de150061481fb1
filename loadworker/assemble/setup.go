package assemble

import (
	"context"
	"fmt"
	"time"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/loadworker/attack"
	"github.com/loadtest-dev/loadtest-operator/loadworker/setup"
)

// setupPhase is what is sent before the first step is ready to begin.
type setupPhase struct {
	config setup.Config
	fill   *setup.Fill
	warmUp *setup.WarmUp
}

// newSetupPhase reads an assignment's setup. It has a client of its own, so that
// its connections are no part of the first step's.
func newSetupPhase(a *workerv1.Assignment, c Config, t *requestSource, first attack.StepShare) (*setupPhase, error) {
	p := &setupPhase{config: setup.Config{
		Source: t.source, Timeout: time.Duration(a.GetTarget().GetTimeoutNanos()),
		Worker: a.GetWorker(), Workers: max(a.GetWorkers(), 1),
	}}
	var err error
	if p.config.Client, err = newClient(a.GetTarget(), c); err != nil {
		return nil, err
	}
	if p.config.Client, _, err = withOthers(p.config.Client, a, c); err != nil {
		return nil, err
	}
	if s := a.GetSetup().GetFill(); s != nil {
		share := shareOf(s.GetShare())
		p.fill = &setup.Fill{
			Request: int(s.GetRequest()), Number: share.Number, Count: share.Count, Capture: s.GetCapture(), Into: t.captured,
			Connections: bounded(setup.FillConnections, a.GetSetup()),
		}
		if err := p.fill.Check(p.config); err != nil {
			return nil, err
		}
		if share.Count == 0 && t.takesCaptured() {
			return nil, setup.ErrNothingCaptured
		}
	}
	if s := a.GetSetup().GetWarmUp(); s != nil {
		p.warmUp = &setup.WarmUp{Request: int(s.GetRequest()), Duration: time.Duration(s.GetDurationNanos()), Connections: bounded(warmUpConnections(first), a.GetSetup())}
		return p, p.warmUp.Check(p.config)
	}
	return p, nil
}

// arrivalsConnections is the number of connections over which a target is warmed up
// for arrivals, which have no number of users.
const arrivalsConnections = 16

func warmUpConnections(first attack.StepShare) int {
	if attack.Arrive(first.Load) {
		return arrivalsConnections
	}
	return int(min(first.Users(), setup.MaxConnections))
}

// bounded is a number of connections, of which the administrator allows so many for a setup.
func bounded(connections int, s *workerv1.Setup) int {
	if most := int(s.GetConnections()); most > 0 {
		return min(connections, most)
	}
	return connections
}

// run runs the setup, and reports how far it is.
func (p *setupPhase) run(ctx context.Context, notReady func(error)) error {
	if p.fill != nil && p.fill.Count > 0 {
		err := p.fill.Run(ctx, p.config, func(sent int64, unreachable error) {
			if unreachable != nil {
				notReady(&Refusal{workerv1.ReasonTargetUnreachable, unreachable})
				return
			}
			notReady(fmt.Errorf("setup: %d of %d requests sent", sent, p.fill.Count))
		})
		if err != nil {
			return &Refusal{workerv1.ReasonSetupFailed, err}
		}
	}
	if p.warmUp != nil {
		notReady(fmt.Errorf("setup: the target is warmed up for %v", p.warmUp.Duration))
		p.warmUp.Run(ctx, p.config)
	}
	return nil
}
