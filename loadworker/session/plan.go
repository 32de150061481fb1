package session

import (
	"fmt"
	"strings"
	"time"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/loadworker/attack"
	"github.com/loadtest-dev/loadtest-operator/loadworker/pace"
	"github.com/loadtest-dev/loadtest-operator/loadworker/setup"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
)

// refusal is why a worker is not ready. Without a reason it will be by itself.
type refusal struct {
	reason string
	err    error
}

// message is what is wrong in a line: faults that were found together are joined by
// line breaks, which nobody would see. What a file or a proxy said is in it as bytes,
// of which a message of the session may have only UTF-8: another could not be sent.
func (r *refusal) message() string {
	return strings.ToValidUTF8(strings.ReplaceAll(r.err.Error(), "\n", "; "), "\uFFFD")
}

// plan is an assignment that can be carried out.
type plan struct {
	steps     []attack.StepShare
	client    transport.Client
	runner    *attack.Runner
	preflight *setup.Preflight // nil: nothing is asked
	setup     *prologue
}

// newPlan compiles an assignment and checks all that can be checked without the
// target.
func newPlan(a *workerv1.Assignment, c Config) (*plan, *refusal) {
	p := &plan{}
	for _, s := range a.GetSteps() {
		step := StepOf(s)
		if err := step.Check(); err != nil {
			return nil, &refusal{workerv1.ReasonInvalidSpec, err}
		}
		p.steps = append(p.steps, step)
	}
	limits, memory := c.Limits(), needOf(a)
	if err := limits.check(p.steps, memory); err != nil {
		return nil, &refusal{workerv1.ReasonWorkerRefused, err}
	}
	traffic, err := newTraffic(a)
	if err != nil {
		return nil, &refusal{workerv1.ReasonInvalidSpec, err}
	}
	p.client, err = newClient(a.GetTarget(), c)
	if err != nil {
		return nil, &refusal{workerv1.ReasonInvalidSpec, err}
	}
	p.runner, err = attack.NewRunner(attack.Config{
		Source: traffic.source, Client: p.client, Worker: a.GetWorker(),
		Seed:           a.GetSeed(),
		Timeout:        time.Duration(a.GetTarget().GetTimeoutNanos()),
		MaxConnections: int(limits.connections(memory)),
		Audit:          a.GetClientHeader() != "",
	})
	if err != nil {
		return nil, &refusal{workerv1.ReasonInvalidSpec, err}
	}
	first, _ := p.after(-1)
	if p.setup, err = newPrologue(a, c, traffic, first); err != nil {
		return nil, &refusal{workerv1.ReasonInvalidSpec, err}
	}
	if p.preflight, err = newPreflight(a, p.setup.config); err != nil {
		return nil, &refusal{workerv1.ReasonInvalidSpec, err}
	}
	return p, nil
}

// step finds a step by its index.
func (p *plan) step(index int32) (attack.StepShare, error) {
	for _, s := range p.steps {
		if s.Index == index {
			return s, nil
		}
	}
	return attack.StepShare{}, fmt.Errorf("step %d is not in the assignment", index)
}

// after is the step that follows, if there is one.
func (p *plan) after(index int32) (next attack.StepShare, ok bool) {
	for _, s := range p.steps {
		if s.Index > index && (!ok || s.Index < next.Index) {
			next, ok = s, true
		}
	}
	return next, ok
}

// StepOf is a step of an assignment as the engines take it.
func StepOf(s *workerv1.Step) attack.StepShare {
	return attack.StepShare{
		Index: s.GetIndex(),
		Share: toShare(s.GetShare()),
		Total: s.GetTotal(),
		Load:  toLoad(s),

		WarmUp: time.Duration(s.GetWarmUpNanos()),
	}
}

// toLoad returns nil for a kind that this worker does not know.
func toLoad(s *workerv1.Step) attack.Load {
	switch load := s.GetLoad().(type) {
	case *workerv1.Step_PacedUsers:
		return attack.PacedUsers{
			Rate:     pace.Rate(load.PacedUsers.GetTotalRateMicros()),
			Duration: time.Duration(load.PacedUsers.GetDurationNanos()),
		}
	case *workerv1.Step_ClosedUsers:
		return attack.ClosedUsers{Duration: time.Duration(load.ClosedUsers.GetDurationNanos())}
	case *workerv1.Step_Burst:
		return attack.Burst{
			Requests: int64(load.Burst.GetRequestsPerUser()),
			Limit:    time.Duration(load.Burst.GetLimitNanos()),
		}
	case *workerv1.Step_Arrivals:
		return attack.Arrivals{
			Rate:     pace.Rate(load.Arrivals.GetTotalRateMicros()),
			Duration: time.Duration(load.Arrivals.GetDurationNanos()),
			End:      pace.Rate(load.Arrivals.GetEndRateMicros()),
			Poisson:  load.Arrivals.GetPoisson(),
		}
	}
	return nil
}
