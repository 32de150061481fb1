package session

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/workertest"
)

func readAudits(round int32) *workerv1.SessionResponse {
	return &workerv1.SessionResponse{Message: &workerv1.SessionResponse_ReadAudits{ReadAudits: &workerv1.ReadAudits{Round: round}}}
}

// waitForReadings waits for what was read in a round, and has been the same for a while.
func (c *fakeCoordinator) waitForReadings(t *testing.T, round int32) *workerv1.AuditReadings {
	t.Helper()
	return c.waitFor(t, "readings", func(m *workerv1.SessionRequest) bool {
		r := m.GetAuditReadings()
		return r.GetRound() == round && r.GetReadings()[0].GetUnchangedNanos() > 0
	}).message.GetAuditReadings()
}

// A worker reads on request, in any session, and not while a step runs.
func TestNumbersAreReadOnRequest(t *testing.T) {
	server := workertest.NewTarget(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/stats" {
			fmt.Fprint(w, `{"links":60}`)
		}
	})
	c := startFakeCoordinator(t)
	w := startWorker(t, c)
	s := c.waitForHello(t)
	a := workertest.Assignment(server.URL, workertest.ClosedUsers(1, time.Hour))
	stats := proto.CloneOf(a.GetRequests()[0])
	stats.Path = "/stats"
	a.Audits = []*workerv1.Audit{{Read: stats, Value: ".links"}, {Read: stats, Value: ".clicks"}}
	s.send(t, assign(a))
	s.send(t, readAudits(1)) // before it is prepared
	r := c.waitForReadings(t, 1).GetReadings()
	if !r[0].GetRead() || r[0].GetValue() != 60 || r[1].GetRead() || r[1].GetError() == "" {
		t.Errorf("read %v, want 60 and an error", r)
	}
	s.hangUp <- nil
	s = c.waitForHello(t)
	c.waitUntilReady(t)
	s.send(t, readAudits(2))
	c.waitForReadings(t, 2)
	s.send(t, start(0, 0))
	c.waitForSnapshot(t, "requests", func(m *measure.Measurement) bool { return m.Requests[0].Sent > 0 })
	c.waitFor(t, "a second of the step", func(m *workerv1.SessionRequest) bool {
		if m.GetAuditReadings() != nil {
			t.Error("numbers are read in a step")
		}
		return m.GetSnapshot().GetSequence() > 2
	})
	w.finish(t, s)
}
