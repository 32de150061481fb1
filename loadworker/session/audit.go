package session

import (
	"context"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/loadworker/setup"
)

// watchAudits begins to read the numbers of the round that is asked for, once the
// assignment is prepared.
func (w *worker) watchAudits(ctx context.Context) {
	if w.auditRound == 0 || w.stopAuditing != nil || w.assembly == nil || w.assembly.Audit == nil {
		return
	}
	ctx, w.stopAuditing = context.WithCancel(ctx)
	round, audit, exposed := w.auditRound, w.assembly.Audit, w.assignment.GetExposeResponses()
	w.log.Info("the numbers of the audits are read", "round", round)
	go audit.Watch(ctx, func(readings []setup.Reading) {
		select {
		case w.audits <- auditReadings(round, readings, exposed):
		case <-ctx.Done():
		}
	})
}

// endAuditing ends the reading of numbers.
func (w *worker) endAuditing() {
	if w.stopAuditing != nil {
		w.stopAuditing()
		w.stopAuditing = nil
	}
	w.auditRound = 0
}

// onAuditReadings sends what was read. What came too late, of a round that was ended, is
// dropped.
func (w *worker) onAuditReadings(r *workerv1.AuditReadings) {
	if r.GetRound() == w.auditRound {
		w.send("audits", &workerv1.SessionRequest{Message: &workerv1.SessionRequest_AuditReadings{AuditReadings: r}})
	}
}

func auditReadings(round int32, readings []setup.Reading, exposed bool) *workerv1.AuditReadings {
	message := &workerv1.AuditReadings{Round: round}
	for _, r := range readings {
		m := &workerv1.AuditReading{Read: r.Err == nil, Value: r.Value, UnchangedNanos: int64(r.Unchanged)}
		if r.Err != nil {
			m.Error = oneLine(r.Err, exposed)
		}
		message.Readings = append(message.Readings, m)
	}
	return message
}
