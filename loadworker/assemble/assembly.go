package assemble

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"time"

	"github.com/loadtest-dev/loadtest-operator/address"
	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/loadworker/attack"
	"github.com/loadtest-dev/loadtest-operator/loadworker/dial"
	"github.com/loadtest-dev/loadtest-operator/loadworker/health"
	"github.com/loadtest-dev/loadtest-operator/loadworker/replay"
	"github.com/loadtest-dev/loadtest-operator/loadworker/requestlog"
	"github.com/loadtest-dev/loadtest-operator/loadworker/setup"
	"github.com/loadtest-dev/loadtest-operator/loadworker/timer"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport/http2"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/pace"
)

// Config has the settings that are no part of an assignment.
type Config struct {
	// Version is the build; it is in the User-Agent of the requests.
	Version string
	// Limits are what the system grants this process.
	Limits health.Limits
	// Log gets a record of each request; nil: there is none.
	Log *requestlog.Log
	// Lookup resolves the target's name. Default: the system's resolver.
	Lookup dial.Lookup
	// Dial opens a connection to an address, which no event loop takes: it need not be a
	// socket. Default: by TCP.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Timer makes the timers that wait for due times. Default: those of the machine.
	Timer func() timer.Timer

	// Access is where connections may go to. Default: where the assignment says.
	Access *Access

	// policy is the access of one target, for all that dials it.
	policy *address.Current
	// otherPolicies are those of the assignment's other targets, in their order.
	otherPolicies []*address.Current
	// bodies is the memory for bodies of responses, of all targets.
	bodies *transport.Budget
	// shared is how requests share connections of HTTP/2.
	shared http2.Shared
}

// Refusal is why an assignment cannot be carried out.
type Refusal struct {
	// Reason is one of the session's.
	Reason string
	Err    error
}

func (r *Refusal) Error() string { return r.Err.Error() }

// Unwrap returns the cause.
func (r *Refusal) Unwrap() error { return r.Err }

// Assembly is an assignment that can be carried out.
type Assembly struct {
	// Audit reads the numbers of the audits; nil: there are none.
	Audit *setup.Audit

	steps []attack.StepShare
	// sides are the target, and the control if there is one. toControl has the indexes of
	// the steps that are sent to the latter.
	sides     []*side
	toControl map[int32]bool
	targets   int32
	log       *replay.Log // of the steps that send one; nil: none does
	renewing  renewing    // of tokens
}

// New assembles what carries an assignment out, and checks all that can be
// checked without the target. Of calls whose descriptors are not given it asks the target
// for them; it calls notReady with the reason why it has none yet, as Prepare does. Its
// error is a *Refusal, also when ctx ends.
func New(ctx context.Context, a *workerv1.Assignment, c Config, notReady func(error)) (*Assembly, error) {
	if err := checkKnown(a); err != nil {
		return nil, &Refusal{workerv1.ReasonWorkerRefused, err}
	}
	x := &Assembly{toControl: map[int32]bool{}}
	var err error
	if x.log, err = newLog(a); err != nil {
		return nil, &Refusal{workerv1.ReasonInvalidSpec, err}
	}
	for _, s := range a.GetSteps() {
		if err := x.AddStep(s); err != nil {
			return nil, &Refusal{workerv1.ReasonInvalidSpec, err}
		}
		if s.GetToControl() && a.GetControl() == nil {
			return nil, &Refusal{workerv1.ReasonInvalidSpec, fmt.Errorf("step %d is sent to a control, but there is none", s.GetIndex())}
		}
	}
	held, memory, limits := x.steps, memoryNeed(a), limitsOfEach(c.Limits, targetsOf(a))
	if largest := a.GetLargest(); largest != nil {
		held = append(slices.Clone(held), x.stepOf(largest))
	}
	for _, step := range held {
		if err := checkDriver(a, step); err != nil {
			return nil, &Refusal{workerv1.ReasonInvalidSpec, err}
		}
	}
	if err := checkLimits(limits, held, memory); err != nil {
		return nil, &Refusal{workerv1.ReasonWorkerRefused, err}
	}
	c.bodies = transport.NewBudget(memoryOfBodies(limits, held, memory))
	err = x.assemble(ctx, a, c, int(connections(limits, memory)), notReady)
	if _, refused := errors.AsType[*Refusal](err); err != nil && !refused {
		err = &Refusal{workerv1.ReasonInvalidSpec, err}
	}
	if err != nil {
		x.renewing.end()
		return nil, err
	}
	return x, nil
}

// assemble makes all that sends requests.
func (x *Assembly) assemble(ctx context.Context, a *workerv1.Assignment, c Config, connections int, notReady func(error)) error {
	if c.Access == nil {
		access, err := NewAccess(a)
		if err != nil {
			return err
		}
		c.Access = access
	}
	first, _ := x.StepAfter(-1)
	if err := x.survey(ctx, notReady); err != nil {
		return err
	}
	known, err := newLogins(a, c)
	if err != nil {
		return err
	}
	if err := known.obtain(ctx, notReady, &x.renewing); err != nil {
		return err
	}
	for i, each := range assignmentsOf(a) {
		if c.policy, c.otherPolicies = &c.Access.target, c.Access.others; i > 0 {
			c.policy = &c.Access.control
		}
		descriptors, err := describe(ctx, each, c, known, notReady)
		if err != nil && a.GetControl() != nil {
			return of(each.GetTarget(), err)
		}
		if err != nil {
			return err
		}
		s, err := newSide(each, c, &services{each.GetTarget(), descriptors, known}, connections, first)
		if err != nil {
			return err
		}
		x.sides = append(x.sides, s)
	}
	x.Audit, x.targets = x.sides[0].audit, int32(len(x.sides)+len(a.GetOtherTargets()))
	return nil
}

// Runner runs a step: that of the target to which it is sent.
func (x *Assembly) Runner(step attack.StepShare) *attack.Runner {
	if x.toControl[step.Index] {
		return x.sides[1].runner
	}
	return x.sides[0].runner
}

// Close closes all connections, and ends what renews tokens. It is called also of an assembly
// that could not be prepared.
func (x *Assembly) Close() {
	x.renewing.end()
	if x.log != nil {
		x.log.Close()
	}
	for _, s := range x.sides {
		s.runner.Close()
	}
}

// AddStep adds a step to those of the assignment. It is not safe while another
// goroutine asks for steps.
func (x *Assembly) AddStep(s *workerv1.Step) error {
	step := x.stepOf(s)
	if err := step.Check(); err != nil {
		return err
	}
	x.steps = append(x.steps, step)
	x.toControl[step.Index] = s.GetToControl()
	return nil
}

// Step finds a step by its index.
func (x *Assembly) Step(index int32) (attack.StepShare, error) {
	for _, s := range x.steps {
		if s.Index == index {
			return s, nil
		}
	}
	return attack.StepShare{}, fmt.Errorf("step %d is not in the assignment", index)
}

// StepAfter is the step that follows an index, if there is one.
func (x *Assembly) StepAfter(index int32) (next attack.StepShare, ok bool) {
	for _, s := range x.steps {
		if s.Index > index && (!ok || s.Index < next.Index) {
			next, ok = s, true
		}
	}
	return next, ok
}

// PreflightAnswers is how many questions an assembly that is prepared had answered
// as expected: all.
func (x *Assembly) PreflightAnswers() int32 {
	n := 0
	for _, s := range x.sides {
		if s.preflight != nil {
			n += s.preflight.Source.Len()
		}
	}
	return int32(n)
}

// Targets is how many targets it sends to.
func (x *Assembly) Targets() int32 { return x.targets }

// Descriptors are the digests of those by which calls to the target, and to the control, are
// encoded; "": there are none.
func (x *Assembly) Descriptors() (target, control string) {
	var digests [2]string
	for i, s := range x.sides {
		if s.descriptors != nil {
			digests[i] = s.descriptors.Digest()
		}
	}
	return digests[0], digests[1]
}

// stepOf is a step of an assignment as a Runner takes it.
func (x *Assembly) stepOf(s *workerv1.Step) attack.StepShare {
	return attack.StepShare{
		Index: s.GetIndex(),
		Share: shareOf(s.GetShare()),
		Total: s.GetTotal(),
		Load:  x.loadOf(s),

		WarmUp: time.Duration(s.GetWarmUpNanos()),
	}
}

// loadOf returns nil for a load that this worker does not know.
func (x *Assembly) loadOf(s *workerv1.Step) attack.Load {
	switch load := s.GetLoad().(type) {
	case *workerv1.Step_PacedUsers:
		return attack.PacedUsers{
			Rate:     pace.Rate(load.PacedUsers.GetTotalRateMicros()),
			Duration: time.Duration(load.PacedUsers.GetDurationNanos()),
		}
	case *workerv1.Step_ClosedUsers:
		return attack.ClosedUsers{
			Duration: time.Duration(load.ClosedUsers.GetDurationNanos()),
			Think:    thinkOf(load.ClosedUsers.GetThink()),
		}
	case *workerv1.Step_Burst:
		return attack.Burst{
			Requests: int64(load.Burst.GetRequestsPerUser()),
			Limit:    time.Duration(load.Burst.GetLimitNanos()),
			Think:    thinkOf(load.Burst.GetThink()),
		}
	case *workerv1.Step_RampedUsers:
		return attack.RampedUsers{
			From: load.RampedUsers.GetFrom(), To: load.RampedUsers.GetTo(),
			Duration: time.Duration(load.RampedUsers.GetDurationNanos()),
			Each:     pace.Rate(load.RampedUsers.GetRatePerUserMicros()),
			Think:    thinkOf(load.RampedUsers.GetThink()),
		}
	case *workerv1.Step_Arrivals:
		return attack.Arrivals{
			Rate:     pace.Rate(load.Arrivals.GetTotalRateMicros()),
			Duration: time.Duration(load.Arrivals.GetDurationNanos()),
			End:      pace.Rate(load.Arrivals.GetEndRateMicros()),
			Poisson:  load.Arrivals.GetPoisson(),
		}
	case *workerv1.Step_Recorded:
		return attack.Recorded{Log: x.log, Duration: time.Duration(load.Recorded.GetDurationNanos())}
	}
	return nil
}

func thinkOf(t *workerv1.Think) pace.Think {
	return pace.Think{Shortest: time.Duration(t.GetShortestNanos()), Longest: time.Duration(t.GetLongestNanos())}
}

func shareOf(s *workerv1.Share) pace.Share {
	return pace.Share{First: s.GetFirst(), Stride: s.GetStride(), Count: s.GetCount()}
}

func durations(nanos []int64) []time.Duration {
	var list []time.Duration
	for _, n := range nanos {
		list = append(list, time.Duration(n))
	}
	return list
}

// ledgerBytes is the memory for the audit's ledgers.
func ledgerBytes(a *workerv1.Assignment) int {
	if a.GetClientHeader() == "" {
		return 0
	}
	return measure.LedgerShare(int(a.GetWorkers()))
}
