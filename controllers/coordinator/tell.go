package coordinator

import workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"

// told is what a session was told of the directive. A new session was told
// nothing, so that a worker which reconnects hears all of it again.
type told struct {
	assigned     bool
	start        Start
	stopped      int32
	acknowledged int32
	finished     bool
}

var nothingTold = told{start: Start{Step: noStep}, stopped: noStep}

// untold returns what the session has to be told to know the directive, and
// whether that is the end of it.
func (c *Coordinator) untold(s *session) (messages []*workerv1.SessionResponse, finished bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s.run == nil || !s.run.directed || s.detached {
		return nil, false
	}
	messages = s.told.update(&s.run.directive, s.identity.Worker)
	return messages, s.told.finished
}

// update makes t what the directive says, and returns the messages that tell
// the difference: what is stored before what begins, and the end last.
func (t *told) update(d *Directive, worker int32) (messages []*workerv1.SessionResponse) {
	if d.Acknowledged > t.acknowledged {
		t.acknowledged = d.Acknowledged
		messages = append(messages, acknowledge(d.Acknowledged))
	}
	if d.Finish {
		if !t.finished {
			t.finished = true
			messages = append(messages, finish())
		}
		return messages
	}
	if !t.assigned && int(worker) < len(d.Assignments) {
		t.assigned = true
		// What an acknowledgement refers to comes first.
		messages = append([]*workerv1.SessionResponse{assignment(d.Assignments[worker])}, messages...)
	}
	// A worker that comes back after its step was acknowledged must not run it.
	if !d.open() {
		return messages
	}
	if t.start.Step != d.Start.Step || !t.start.At.Equal(d.Start.At) {
		t.start = *d.Start
		messages = append(messages, startStep(*d.Start))
	}
	if d.Stop && t.stopped != d.Start.Step {
		t.stopped = d.Start.Step
		messages = append(messages, stopStep(d.Start.Step))
	}
	return messages
}

func assignment(a *workerv1.Assignment) *workerv1.SessionResponse {
	return &workerv1.SessionResponse{Message: &workerv1.SessionResponse_Assignment{Assignment: a}}
}

func startStep(s Start) *workerv1.SessionResponse {
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

func finish() *workerv1.SessionResponse {
	return &workerv1.SessionResponse{Message: &workerv1.SessionResponse_Finish{Finish: &workerv1.Finish{}}}
}
