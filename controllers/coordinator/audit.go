package coordinator

import (
	"slices"
	"time"

	"google.golang.org/grpc/codes"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// numbers is what a worker read of the numbers of the audits in a round.
type numbers struct {
	round    int32
	readings []exchange.Reading
}

// of is what was read in a round; nil: nothing.
func (a *numbers) of(round int32) []exchange.Reading {
	if round == 0 || a.round != round {
		return nil
	}
	return a.readings
}

// auditReadings stores what a worker read in the round that it is directed to read.
func (c *Coordinator) auditReadings(s *session, m *workerv1.AuditReadings) error {
	var invalid, changed bool
	c.locked(func() {
		w, d := s.run.worker(s.identity.Worker), &s.run.directive
		if w.session != s || m.GetRound() == 0 || m.GetRound() != d.AuditRound(s.identity.Worker) {
			return // it was directed otherwise meanwhile
		}
		if invalid = len(m.GetReadings()) != len(d.Assignments[s.identity.Worker].GetAudits()); invalid {
			return
		}
		said := numbers{round: m.GetRound(), readings: readingsOf(m)}
		changed = w.round != said.round || !slices.Equal(w.readings, said.readings)
		w.numbers = said
	})
	switch {
	case invalid:
		return c.reject(rejectInvalid, codes.InvalidArgument, "audit readings: there are %d, but the assignment has another number of audits", len(m.GetReadings()))
	case changed:
		c.notifyChange(s.run, soon)
	}
	return nil
}

func readingsOf(m *workerv1.AuditReadings) []exchange.Reading {
	list := make([]exchange.Reading, len(m.GetReadings()))
	for i, r := range m.GetReadings() {
		if !r.GetRead() {
			list[i].Problem = text.Clean(r.GetError(), measure.MaxErrorBytes)
			continue
		}
		list[i] = exchange.Reading{Read: true, Value: r.GetValue(), Unchanged: time.Duration(r.GetUnchangedNanos())}
	}
	return list
}
