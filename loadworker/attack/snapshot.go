package attack

import (
	"time"

	"github.com/loadtest-dev/loadtest-operator/measure"
)

// Snapshot is the measurement so far, without the times that only the session
// knows: start and clock error.
func (x *Execution) Snapshot() (*measure.Measurement, error) {
	ended := x.ended()
	s, err := x.rec.collect()
	if err != nil {
		return nil, err
	}
	sent := int64(0)
	for i := range s.Requests {
		sent += s.Requests[i].Sent
	}
	// The time is read after the counts, so that all that was sent is due.
	elapsed := x.elapsed()
	now := max(0, min(elapsed, x.windowEnd()))
	s.Due = sent
	if elapsed >= 0 {
		s.Due = max(sent, x.schedule.due(min(now+1, x.windowEnd()), sent))
	}
	if b, ok := x.step.Load.(Burst); ok && ended {
		s.Due = b.Requests * x.step.Share.Count
	}
	s.Unsent = s.Due - sent
	s.Window = x.window(now, ended)
	x.fillHealth(s)
	s.Transport = x.runner.client.Name()
	if engine := x.engine.Load(); engine != nil {
		s.Engine = *engine
	}
	return s, nil
}

func (x *Execution) ended() bool {
	select {
	case <-x.done:
		return true
	default:
		return false
	}
}

// window is the time over which rates are counted.
func (x *Execution) window(now time.Duration, ended bool) time.Duration {
	if !ended {
		return now
	}
	if _, ok := x.step.Load.(Burst); ok && !x.stopped.Load() {
		return time.Duration(x.rec.last.Load())
	}
	return x.windowEnd()
}
