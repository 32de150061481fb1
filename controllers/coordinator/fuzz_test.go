package coordinator

import (
	"context"
	"fmt"
	"io"
	"maps"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"
	clocktesting "k8s.io/utils/clock/testing"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
)

// maxEvents bounds what is played, in bytes.
const maxEvents = 200

// pipe is a stream whose requests a test sends one after another, and whose responses
// nothing reads.
type pipe struct {
	stream
	ctx      context.Context
	requests chan *workerv1.SessionRequest
}

func (p *pipe) Context() context.Context             { return p.ctx }
func (p *pipe) Send(*workerv1.SessionResponse) error { return nil }

func (p *pipe) Recv() (*workerv1.SessionRequest, error) {
	select {
	case m, ok := <-p.requests:
		if !ok {
			return nil, io.EOF
		}
		return m, nil
	case <-p.ctx.Done():
		return nil, p.ctx.Err()
	}
}

// fuzzed is a coordinator, the pods that connect to it, and what it must have in the
// end.
type fuzzed struct {
	*Coordinator
	t        testing.TB
	clock    *clocktesting.FakeClock
	step     int32
	sessions map[int]*fuzzedSession
	group    sync.WaitGroup
}

type fuzzedSession struct {
	requests chan *workerv1.SessionRequest
	cancel   context.CancelFunc
	ended    chan struct{}
}

// Two workers, of which the first has two pods, and a pod of no worker of the run.
var fuzzedPods = []string{"a/0/first@1", "a/0/second@2", "a/1/other@1", "a/7/beyond@1", "b/0/foreign@1", "bad"}

func newFuzzed(t testing.TB) *fuzzed {
	clk := clocktesting.NewFakeClock(noon)
	f := &fuzzed{Coordinator: New(tokens{&sync.Map{}}, clk, func(RunID) {}, prometheus.NewRegistry()), t: t, clock: clk, sessions: map[int]*fuzzedSession{}}
	f.after = func(time.Duration, func()) func() { return func() {} }
	f.connections = newConnections(nil, maxStrangers, func(rejection) {}, newReception(f.after))
	f.direct()
	return f
}

func (f *fuzzed) direct() { f.Direct("a", audited(2, f.step)) }

func (f *fuzzed) connect(pod int) {
	f.disconnect(pod)
	ctx, cancel := context.WithCancel(context.Background())
	ctx = metadata.NewIncomingContext(ctx, metadata.Pairs("authorization", "Bearer "+fuzzedPods[pod]))
	s := &fuzzedSession{requests: make(chan *workerv1.SessionRequest, maxEvents), cancel: cancel, ended: make(chan struct{})}
	f.sessions[pod] = s
	f.group.Go(func() {
		defer close(s.ended)
		defer cancel()
		_ = service{Coordinator: f.Coordinator}.Session(&pipe{ctx: ctx, requests: s.requests})
	})
}

func (f *fuzzed) disconnect(pod int) {
	if s, ok := f.sessions[pod]; ok {
		s.cancel()
		<-s.ended
		delete(f.sessions, pod)
	}
}

// send does not wait: a session may wait itself, for the step of a snapshot.
func (f *fuzzed) send(pod int, m *workerv1.SessionRequest) {
	if s, ok := f.sessions[pod]; ok {
		s.requests <- m
		runtime.Gosched()
	}
}

// hello is what the pod's token allows, or another.
func (f *fuzzed) hello(pod int, another bool) *workerv1.SessionRequest {
	run, number := "a", int32(0)
	if _, err := fmt.Sscanf(fuzzedPods[pod], "%1s/%d", &run, &number); err != nil || another {
		return helloOf("a", 1-number)
	}
	return helloOf(run, number)
}

// play makes each two bytes an event: one of the pods does something, or the run goes on.
func (f *fuzzed) play(events []byte) {
	for i := 0; i+1 < len(events); i += 2 {
		pod, what := int(events[i])%len(fuzzedPods), events[i+1]
		switch what % 12 {
		case 0, 1, 2:
			f.connect(pod)
			f.send(pod, f.hello(pod, what > 200))
		case 3:
			f.disconnect(pod)
		case 4:
			f.send(pod, readinessOf(&workerv1.Readiness{Ready: what > 127, Reason: "Busy"}))
		case 5, 6, 7:
			f.send(pod, snapshotRequest(snapshot(f.t, f.step, int64(what), what > 200, int(what)%16)))
		case 8:
			f.send(pod, snapshotRequest(withLedgers(f.t, f.step, fuzzedPods[pod], 1+int(what)%16)))
		case 9:
			f.send(pod, snapshotRequest(snapshot(f.t, int32(what%5)-1, int64(what), true, 3)))
		case 10:
			f.send(pod, hostileRequest(events[i:]))
		case 11:
			if f.step++; f.step == 1 || f.step > 3 { // which are not in the plan
				f.step = 3 - f.step%2
			}
			f.direct()
		}
		f.clock.Step(time.Second)
		f.check()
	}
	for pod := range maps.Clone(f.sessions) {
		f.disconnect(pod)
	}
	f.group.Wait()
	f.receivers.Wait()
	f.check()
	if n := testutil.ToFloat64(f.metrics.sessions); n != 0 {
		f.t.Errorf("%v sessions are left", n)
	}
	f.Forget("a")
	if f.kept != 0 {
		f.t.Errorf("%d bytes are kept of no run", f.kept)
	}
}

func snapshotRequest(s *workerv1.Snapshot) *workerv1.SessionRequest {
	return &workerv1.SessionRequest{Message: &workerv1.SessionRequest_Snapshot{Snapshot: s}}
}

// hostileRequest is whatever the bytes decode to.
func hostileRequest(b []byte) *workerv1.SessionRequest {
	m := &workerv1.SessionRequest{}
	if err := proto.Unmarshal(b, m); err != nil {
		return &workerv1.SessionRequest{}
	}
	return m
}

// check compares what is observed with what is kept.
func (f *fuzzed) check() {
	if n := testutil.ToFloat64(f.metrics.rejected.WithLabelValues(string(rejectPanic))); n != 0 {
		f.t.Fatalf("%v panics", n)
	}
	o := f.Observe("a")
	if o.Step != nil && o.Step.Err != nil {
		f.t.Fatal(o.Step.Err)
	}
	var r *runState
	f.locked(func() { r = f.runs["a"] })
	r.finals.mu.Lock()
	defer r.finals.mu.Unlock()
	f.locked(func() {
		kept := r.finals.bytes() + r.waiting
		for number, w := range f.runs["a"].workers {
			if number > 1 && (len(w.snapshots) > 0 || w.session != nil) {
				f.t.Errorf("there is a worker %d of 2", number)
			}
			for step, held := range w.snapshots {
				kept += held.size
				if step != f.step {
					f.t.Errorf("worker %d: a snapshot of step %d is held in step %d", number, step, f.step)
				}
				if !f.isPodOf(held.podUID, number) {
					f.t.Errorf("worker %d: a snapshot of %q", number, held.podUID)
				}
			}
		}
		if kept != f.runs["a"].kept && len(f.runs["a"].pendingFinals) == 0 {
			f.t.Errorf("%d bytes are counted, %d are kept", f.runs["a"].kept, kept)
		}
	})
	f.checkCounts(o)
}

func (f *fuzzed) isPodOf(uid string, worker int32) bool {
	switch uid {
	case "uid of first@1", "uid of second@2":
		return worker == 0
	case "uid of other@1":
		return worker == 1
	}
	return false
}

// checkCounts: the result is of the workers that reported, and of no other.
func (f *fuzzed) checkCounts(o exchange.Observation) {
	var sent int64
	reported := int32(0)
	for _, w := range o.Workers {
		if w.Reported {
			reported++
			sent += w.Sent
		}
	}
	switch {
	case o.Step == nil && reported > 0, o.Step != nil && o.Step.Reporting != reported:
		f.t.Errorf("%d workers reported, the step is %+v", reported, o.Step)
	case o.Step != nil && o.Step.Merged.Requests[0].Sent != sent:
		f.t.Errorf("sent %d, the workers %d", o.Step.Merged.Requests[0].Sent, sent)
	}
}

// FuzzSessions has several pods, of which some are no workers of the run, connect,
// disconnect and send anything in any order.
func FuzzSessions(f *testing.F) {
	for _, seed := range []string{
		"", "\x00\x02\x00\x04\x00\xc8\x00\xcd", // a worker connects and reports
		"\x00\x02\x00\x05\x01\x02\x01\x06\x00\x02\x00\xd1",                 // it is replaced, and comes back
		"\x03\x02\x03\x05\x04\x02\x04\x05\x05\x02\x05\x05",                 // pods that are no workers
		"\x00\x02\x00\x08\x02\x02\x02\x08\x00\x0b\x00\x08\x02\x05",         // ledgers in two steps
		"\x00\x02\x00\x05\x00\x03\x00\x02\x00\x11\x00\x1d\x00\x08\x00\x14", // a reconnect
		"\x00\x02\x00\x0a\x22\x02\x08\x01", "\x00\x00\x00\x09\x01\x01\x01\x15",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, events []byte) { newFuzzed(t).play(events[:min(len(events), maxEvents)]) })
}

// No pod but those of a worker contributes to its run, whatever it says that it is.
func TestForgedPodsContributeNothing(t *testing.T) {
	f := newFuzzed(t)
	for pod := range fuzzedPods {
		for _, run := range []string{"a", "b"} {
			for number := range int32(3) {
				f.connect(pod)
				f.send(pod, helloOf(run, number))
				f.send(pod, snapshotRequest(snapshot(t, 0, 1, true, 10)))
				f.check()
			}
		}
	}
	f.play(nil)
	if o := f.Observe("a"); o.Step != nil {
		t.Errorf("a run that is forgotten has %+v", o.Step)
	}
}
