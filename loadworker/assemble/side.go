package assemble

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"google.golang.org/protobuf/reflect/protoreflect"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/loadworker/attack"
	"github.com/loadtest-dev/loadtest-operator/loadworker/message"
	"github.com/loadtest-dev/loadtest-operator/loadworker/setup"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
)

// side is all that sends to one target: connections, and what was captured of it, are
// never of another.
type side struct {
	target    *workerv1.Target
	client    transport.Client
	others    []otherTarget
	runner    *attack.Runner
	preflight *setup.Preflight // nil: there are no questions
	setup     *setupPhase
	audit     *setup.Audit // nil: there are no audits
	// descriptors are those of the target's services; nil: there are no calls.
	descriptors *message.Descriptors
}

// assignmentsOf is the assignment of each side: that of a control is the same but for what
// differs. They share all else.
func assignmentsOf(a *workerv1.Assignment) []*workerv1.Assignment {
	c := a.GetControl()
	if c == nil {
		return []*workerv1.Assignment{a}
	}
	of := &workerv1.Assignment{}
	a.ProtoReflect().Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		of.ProtoReflect().Set(f, v)
		return true
	})
	of.Target, of.Requests, of.Preflight, of.Control = c.GetTarget(), c.GetRequests(), c.GetPreflight(), nil
	return []*workerv1.Assignment{a, of}
}

// newSide makes what sends to the target of an assignment, by what is known of its services, over
// at most so many connections. first is the first step.
func newSide(a *workerv1.Assignment, c Config, of *services, connections int, first attack.StepShare) (*side, error) {
	s := &side{target: a.GetTarget(), descriptors: of.descriptors}
	requests, err := newRequestSource(a, of, c.Limits.Memory)
	if err != nil {
		return nil, err
	}
	if s.client, err = newStepClient(a, c); err != nil {
		return nil, err
	}
	clients, others, err := clientsOf(s.client, a, c)
	if err != nil {
		return nil, err
	}
	s.others = others
	if s.client, err = withWebSockets(clients, a, c); err != nil {
		return nil, err
	}
	traces, err := newSampler(a.GetTarget())
	if err != nil {
		return nil, err
	}
	s.runner, err = attack.NewRunner(attack.Config{
		Source: requests.source, Client: s.client, Worker: a.GetWorker(), Timer: c.Timer,
		Traces:          traces,
		Seed:            a.GetSeed(),
		Timeout:         time.Duration(a.GetTarget().GetTimeoutNanos()),
		MaxConnections:  connections,
		Bodies:          c.bodies,
		LedgerBytes:     ledgerBytes(a),
		OnTime:          durations(a.GetOnTimeNanos()),
		StreamGoals:     streamGoals(a.GetStreamGoals()),
		Log:             c.Log,
		ExposeResponses: a.GetExposeResponses(),
	})
	if err != nil {
		return nil, err
	}
	if s.setup, err = newSetupPhase(a, c, requests, first); err != nil {
		return nil, err
	}
	if s.preflight, err = newPreflight(a, s.setup.config, requests.services); err != nil {
		return nil, err
	}
	s.audit, err = newAudit(a, s.setup.config, requests.services)
	return s, err
}

// targetsOf is how many connections a user may have: one to each target, and one more to a target that gets
// requests of WebSocket beside others.
func targetsOf(a *workerv1.Assignment) int {
	return len(assignmentsOf(a)) * (1 + len(a.GetOtherTargets()) + apart(a))
}

// verify waits until the target can be reached, and asks it the questions of the
// preflight.
func (s *side) verify(ctx context.Context, notReady func(error)) error {
	if err := untilReachable(ctx, notReady, s.reach); err != nil {
		return err
	}
	if s.preflight == nil {
		return nil
	}
	notReady(errors.New("preflight: the target is being asked"))
	return untilReachable(ctx, notReady, s.ask)
}

// reach resolves the target and opens a connection to it.
func (s *side) reach(ctx context.Context) *Refusal {
	ctx, cancel := context.WithTimeout(ctx, tryTimeout)
	defer cancel()
	if err := s.client.Probe(ctx); err != nil {
		return &Refusal{workerv1.ReasonTargetUnreachable, fmt.Errorf("target %s: %w", destination(s.target), err)}
	}
	for _, other := range s.others {
		if err := other.client.Probe(ctx); err != nil {
			return &Refusal{workerv1.ReasonTargetUnreachable, fmt.Errorf("target %s: %w", destination(other.target), err)}
		}
	}
	return nil
}

// ask asks all questions of the preflight once.
func (s *side) ask(ctx context.Context) *Refusal {
	err := s.preflight.Ask(ctx)
	var unreachable *setup.Unreachable
	switch {
	case err == nil:
		return nil
	case errors.As(err, &unreachable):
		return &Refusal{workerv1.ReasonTargetUnreachable, err}
	}
	return &Refusal{workerv1.ReasonPreflightFailed, err}
}

// of says of which target an error is, where there are two.
func (x *Assembly) of(s *side, err error) error {
	if len(x.sides) == 1 {
		return err
	}
	return of(s.target, err)
}

// of says that an error is of a target.
func of(t *workerv1.Target, err error) error {
	if err == nil || strings.Contains(err.Error(), t.GetUrl()) {
		return err
	}
	named := fmt.Errorf("%s: %w", t.GetUrl(), err)
	var refusal *Refusal
	if errors.As(err, &refusal) {
		return &Refusal{refusal.Reason, named}
	}
	return named
}
