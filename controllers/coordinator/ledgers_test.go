package coordinator

import (
	"fmt"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/measure/wire"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// audited directs run a, whose workers keep ledgers.
func audited(workers int, step int32) exchange.Directive {
	d := running("a", workers, step)
	for _, a := range d.Assignments {
		a.ClientHeader = "X-Client"
	}
	return d
}

// withLedgers is a final snapshot of requests that were granted to a client.
func withLedgers(t testing.TB, step int32, client string, requests int) *workerv1.Snapshot {
	t.Helper()
	m := measure.NewMeasurement(1)
	r := &m.Requests[0]
	n := int64(requests)
	m.Due, r.Sent, r.Expected, r.Outcomes[measure.Success] = n, n, n, n
	m.Clients = measure.NewClients(measure.MaxLedgerBytes)
	ledger := &measure.Ledger{}
	for i := range requests {
		at := time.Duration(i) * time.Millisecond
		r.Response.Record(at)
		r.Service.Record(at)
		ledger.Record(i%measure.MaxSlices, at, at, measure.Success)
	}
	m.Clients.Add(client, ledger)
	encoded, err := wire.Encode(m)
	must.Succeed(t, err)
	return &workerv1.Snapshot{Step: step, Sequence: 99, Final: true, Measurement: encoded}
}

func wantLedgers(t *testing.T, what string, o exchange.Observation, requests, unseen int64) {
	t.Helper()
	var got int64
	if o.Step == nil || o.Step.Merged == nil || o.Step.Merged.Clients == nil {
		t.Fatalf("%s: %+v has no ledgers", what, o.Step)
	}
	clients := o.Step.Merged.Clients
	for _, ledger := range clients.All() {
		got += ledger.Requests()
	}
	if got != requests || clients.Unseen != unseen {
		t.Errorf("%s: the ledgers have %d requests, %d are not seen; want %d and %d", what, got, clients.Unseen, requests, unseen)
	}
}

// Ledgers are added up once, as they come, and begin anew with each step.
func TestLedgersOfAStep(t *testing.T) {
	c, sessions := directed(t, audited(3, 0))
	send := func(n int, s *workerv1.Snapshot) {
		t.Helper()
		must.Succeed(t, c.snapshot(sessions[n], s))
	}
	send(0, snapshot(t, 0, 1, false, 10))
	send(1, snapshot(t, 0, 1, false, 20))
	wantLedgers(t, "while all run", c.Observe("a"), 0, 30)
	send(0, withLedgers(t, 0, "x", 100))
	send(0, withLedgers(t, 0, "x", 100)) // again
	wantLedgers(t, "when one is done", c.Observe("a"), 100, 20)
	if held := c.runs["a"].pendingFinals; held != nil {
		t.Errorf("%d are held that are in the sum", len(held))
	}
	first := c.Observe("a").Step.Merged.Clients
	send(1, withLedgers(t, 0, "x", 40))
	send(2, withLedgers(t, 0, "y", 2))
	wantLedgers(t, "when all are done", c.Observe("a"), 142, 0)
	if n := first.Ledger("x").Requests(); n != 100 {
		t.Errorf("what was observed before has changed to %d", n)
	}

	between := audited(3, 0)
	between.Acknowledged = 1
	c.Direct("a", between)
	if o := c.Observe("a"); o.Step != nil || c.kept != 0 {
		t.Errorf("between two steps: %+v, %d bytes are kept", o.Step, c.kept)
	}
	c.Direct("a", audited(3, 2))
	send(1, withLedgers(t, 2, "x", 7))
	send(0, withLedgers(t, 0, "x", 100)) // of the step before
	wantLedgers(t, "in the next step", c.Observe("a"), 7, 0)
	// A worker that measured and has no ledgers.
	send(2, snapshot(t, 2, 1, true, 5))
	wantLedgers(t, "with one that has none", c.Observe("a"), 7, 5)
}

func TestRunWithoutAuditHasNoLedgers(t *testing.T) {
	c, sessions := directed(t, running("a", 1, 0))
	must.Succeed(t, c.snapshot(sessions[0], withLedgers(t, 0, "x", 100)))
	if o := c.Observe("a"); o.Step.Merged.Clients != nil {
		t.Errorf("%d clients, want none", o.Step.Merged.Clients.Len())
	}
}

func TestLedgersBeforeTheEndAreRefused(t *testing.T) {
	_, w := withWorker(t, audited(1, 0))
	s := withLedgers(t, 0, "x", 100)
	s.Final = false
	w.snapshot(s)
	wantEnd(t, w.end(), codes.InvalidArgument, "clients: before the step has ended")
}

// However many workers hand over ledgers, and of however many clients, the run keeps
// what it has room for.
func TestLedgersOfARunAreBounded(t *testing.T) {
	const workers = 100
	c, sessions := directed(t, audited(workers, 0))
	for n, s := range sessions {
		share := measure.NewClients(measure.LedgerShare(workers))
		const requests = 1_000 // of which the share of a worker has room for a part
		for i := range requests {
			share.Sent(fmt.Appendf(nil, "client %d of worker %d", i, n), 0, 0)
		}
		sent := snapshot(t, 0, 1, true, 0)
		m := measure.NewMeasurement(1)
		m.Due, m.Requests[0].Sent, m.Requests[0].Outcomes[measure.Unfinished] = requests, requests, requests
		m.Clients = share
		encoded, err := wire.Encode(m)
		must.Succeed(t, err)
		sent.Measurement = encoded
		must.Succeed(t, c.snapshot(s, sent))
	}
	clients := c.Observe("a").Step.Merged.Clients
	if n := int64(clients.Len()); clients.Bytes() > measure.MaxLedgerBytes || n+clients.Untracked != 100_000 || n < 10_000 || clients.Untracked == 0 {
		t.Errorf("%d clients in %d bytes, %d requests of others; want what fits into %d", n, clients.Bytes(), clients.Untracked, measure.MaxLedgerBytes)
	}
}

// A sum that lost a part is no audit.
func TestLedgersThatCannotBeAddedAreTheRunsError(t *testing.T) {
	c, sessions := directed(t, audited(1, 0))
	c.locked(func() {
		c.runs["a"].pendingFinals = append(c.runs["a"].pendingFinals, &final{clients: &measure.Clients{}}, &final{clients: &measure.Clients{}})
	})
	must.Succeed(t, c.snapshot(sessions[0], withLedgers(t, 0, "x", 1)))
	if o := c.Observe("a"); o.Step == nil || o.Step.Merged == nil && o.Step.Err == nil {
		t.Errorf("observed %+v", o.Step)
	}
}
