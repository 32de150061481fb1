package coordinator

import (
	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"

	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
)

// sentState is what was sent to a session of the directive. To a new session
// nothing was sent, so that a worker which reconnects receives all of it again.
type sentState struct {
	assigned     bool
	steps        int // of the assignment
	destinations exchange.Destinations
	start        exchange.Start
	stopped      int32
	acknowledged int32
	auditRound   int32
	finished     bool
}

var nothingSent = sentState{start: exchange.Start{Step: exchange.NoStep}, stopped: exchange.NoStep}

// pending returns the messages that the session lacks of the directive, and
// whether they end the session.
func (c *Coordinator) pending(s *session) (messages []*workerv1.SessionResponse, finished bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s.run == nil || !s.run.directed() || s.detached {
		return nil, false
	}
	messages = s.sent.update(&s.run.directive, s.identity.Worker)
	return messages, s.sent.finished
}

// update makes it what the directive says, and returns the messages for the
// difference: acknowledgements before a start, and the end last.
func (sent *sentState) update(d *exchange.Directive, worker int32) (messages []*workerv1.SessionResponse) {
	if d.Acknowledged > sent.acknowledged {
		sent.acknowledged = d.Acknowledged
		messages = append(messages, acknowledge(d.Acknowledged))
	}
	if d.Finish {
		if !sent.finished {
			sent.finished = true
			messages = append(messages, finish())
		}
		return messages
	}
	if !sent.assigned && int(worker) < len(d.Assignments) {
		sent.assigned, sent.steps = true, len(d.Assignments[worker].GetSteps())
		sent.destinations = destinationsOf(d, worker)
		// The assignment comes before an acknowledgement of its steps.
		messages = append([]*workerv1.SessionResponse{assignment(d.Assignments[worker])}, messages...)
	}
	if round := d.AuditRound(worker); round != sent.auditRound {
		sent.auditRound = round
		messages = append(messages, readAudits(round))
	}
	if now := destinationsOf(d, worker); !now.Same(sent.destinations) && now.Target != nil {
		sent.destinations = now
		messages = append(messages, redirect(now))
	}
	if added := d.StepsAfter(worker, sent.steps); len(added) > 0 {
		sent.steps += len(added)
		messages = append(messages, addSteps(added))
	}
	// A worker that comes back after its step was acknowledged must not run it.
	if d.ActiveStep() == exchange.NoStep {
		return messages
	}
	if sent.start.Step != d.Start.Step || !sent.start.At.Equal(d.Start.At) {
		sent.start = *d.Start
		messages = append(messages, startStep(*d.Start))
	}
	if d.Stop && sent.stopped != d.Start.Step {
		sent.stopped = d.Start.Step
		messages = append(messages, stopStep(d.Start.Step))
	}
	return messages
}

func destinationsOf(d *exchange.Directive, worker int32) exchange.Destinations {
	if int(worker) >= len(d.Assignments) {
		return exchange.Destinations{}
	}
	return exchange.DestinationsOf(d.Assignments[worker])
}

func redirect(to exchange.Destinations) *workerv1.SessionResponse {
	return &workerv1.SessionResponse{Message: &workerv1.SessionResponse_Redirect{
		Redirect: &workerv1.Redirect{Target: to.Target, Control: to.Control, OtherTargets: to.Others},
	}}
}

func assignment(a *workerv1.Assignment) *workerv1.SessionResponse {
	return &workerv1.SessionResponse{Message: &workerv1.SessionResponse_Assignment{Assignment: a}}
}

func addSteps(steps []*workerv1.Step) *workerv1.SessionResponse {
	return &workerv1.SessionResponse{Message: &workerv1.SessionResponse_AddSteps{AddSteps: &workerv1.AddSteps{Steps: steps}}}
}

func startStep(s exchange.Start) *workerv1.SessionResponse {
	return &workerv1.SessionResponse{Message: &workerv1.SessionResponse_StartStep{
		StartStep: &workerv1.StartStep{Step: s.Step, StartUnixNanos: s.At.UnixNano()},
	}}
}

func stopStep(step int32) *workerv1.SessionResponse {
	return &workerv1.SessionResponse{Message: &workerv1.SessionResponse_StopStep{StopStep: &workerv1.StopStep{Step: step}}}
}

func acknowledge(before int32) *workerv1.SessionResponse {
	return &workerv1.SessionResponse{Message: &workerv1.SessionResponse_Acknowledge{Acknowledge: &workerv1.Acknowledge{Before: before}}}
}

func readAudits(round int32) *workerv1.SessionResponse {
	return &workerv1.SessionResponse{Message: &workerv1.SessionResponse_ReadAudits{ReadAudits: &workerv1.ReadAudits{Round: round}}}
}

func finish() *workerv1.SessionResponse {
	return &workerv1.SessionResponse{Message: &workerv1.SessionResponse_Finish{Finish: &workerv1.Finish{}}}
}
