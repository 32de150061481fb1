package coordinator

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
)

// reading directs worker number of two to read a number in a round.
func reading(round, number int32) exchange.Directive {
	d := exchange.Directive{Assignments: assignments("a", 2)}
	for _, a := range d.Assignments {
		a.Audits = []*workerv1.Audit{{Value: ".links"}}
	}
	if round > 0 {
		d.Read = &exchange.Read{Round: round, Worker: number}
	}
	return d
}

func (w *scriptedWorker) reads(round int32, readings ...*workerv1.AuditReading) {
	w.send(&workerv1.SessionRequest{Message: &workerv1.SessionRequest_AuditReadings{AuditReadings: &workerv1.AuditReadings{Round: round, Readings: readings}}})
	w.sync()
}

func (r *fixture) wantReadings(number int, want ...exchange.Reading) {
	r.t.Helper()
	if diff := cmp.Diff(want, r.Observe("a").Workers[number].Readings); diff != "" {
		r.t.Errorf("readings of worker %d (-want +got):\n%s", number, diff)
	}
}

func TestOnlyTheReaderIsHeard(t *testing.T) {
	r := newFixture(t)
	r.Direct("a", reading(1, 1))
	first, second := r.connect("a", 0, "p0"), r.connect("a", 1, "p1")
	wantReceived(t, first, "assignment 0/2")
	wantReceived(t, second, "assignment 1/2", "read audits 1")
	seven := &workerv1.AuditReading{Read: true, Value: 7, UnchangedNanos: int64(time.Second)}
	first.reads(1, seven)  // not asked
	second.reads(2, seven) // of another round
	r.wantReadings(0)
	r.wantReadings(1)
	second.reads(1, seven)
	r.wantReadings(1, exchange.Reading{Read: true, Value: 7, Unchanged: time.Second})
	second.reads(1, &workerv1.AuditReading{Value: 7, Error: "status\x1b 404"})
	r.wantReadings(1, exchange.Reading{Problem: "status 404"})
	r.Direct("a", reading(2, 1))
	r.wantReadings(1)
	wantReceived(t, second, "read audits 2")
	second.reads(2, seven)
	r.Direct("a", reading(2, 0))
	wantReceived(t, first, "read audits 2")
	wantReceived(t, second, "read audits 0")
	r.wantReadings(1)
}

// What a worker read holds across its sessions, and not for another pod.
func TestReadingsAreOfAPod(t *testing.T) {
	r := newFixture(t)
	r.Direct("a", reading(1, 1))
	w := r.connect("a", 1, "p1")
	w.reads(1, &workerv1.AuditReading{Read: true, Value: 7})
	w = r.connect("a", 1, "p1")
	wantReceived(t, w, "assignment 1/2", "read audits 1")
	r.wantReadings(1, exchange.Reading{Read: true, Value: 7})
	r.connect("a", 1, "p2")
	r.wantReadings(1)
}

func TestReadingsThatDoNotFitAreRejected(t *testing.T) {
	r := newFixture(t)
	r.Direct("a", reading(1, 1))
	w := r.connect("a", 1, "p1")
	w.send(&workerv1.SessionRequest{Message: &workerv1.SessionRequest_AuditReadings{AuditReadings: &workerv1.AuditReadings{Round: 1}}})
	wantEnd(t, w.end(), codes.InvalidArgument, "audit readings: there are 0, but the assignment has another number of audits")
	r.wantRejected(rejectInvalid, 1)
}
