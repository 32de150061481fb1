package coordinator

import (
	"fmt"
	"net"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/status"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
)

// stuckConn writes so many bytes, and then holds what comes until it is closed.
type stuckConn struct {
	net.Conn
	left   atomic.Int64
	closed chan struct{}
	once   sync.Once
}

func (c *stuckConn) Write(b []byte) (int, error) {
	left := c.left.Add(-int64(len(b)))
	if left >= 0 {
		return c.Conn.Write(b)
	}
	if n := left + int64(len(b)); n > 0 {
		if _, err := c.Conn.Write(b[:n]); err != nil {
			return 0, err
		}
	}
	<-c.closed
	return 0, net.ErrClosed
}

func (c *stuckConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Conn.Close()
}

// large is a message at the bound.
func large() *workerv1.SessionRequest {
	clients := &workerv1.Clients{Names: []string{strings.Repeat("x", maxMessage-1<<10)}}
	return snapshotRequest(&workerv1.Snapshot{Final: true, Measurement: &workerv1.StepMeasurement{Clients: clients}})
}

// heap is how much memory is in use.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// received is how many bytes came on all connections that no handled message had.
func (l *connections) received() (n int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.open {
		n += c.unhandled.Load()
	}
	return n
}

// Workers that all send the largest message, and not its end, take the room of a few of
// them, and those of another namespace send theirs.
func TestMessagesWithoutAnEndShareSomeRoom(t *testing.T) {
	const workers = 24
	const most = 2*maxMessage + workers*(600<<10)
	r := newFixture(t)
	r.Direct("a", running("a", workers, 0))
	r.Direct("neighbour", running("neighbour", 1, 0))
	message := large()
	before := heap()
	r.wrap = func(conn net.Conn) net.Conn {
		stuck := &stuckConn{Conn: conn, closed: make(chan struct{})}
		stuck.left.Store(maxMessage - 100<<10)
		return stuck
	}
	var senders sync.WaitGroup
	var hostile []*scriptedWorker
	for i := range int32(workers) {
		w := r.connect("a", i, fmt.Sprint("pod-", i))
		hostile = append(hostile, w)
		senders.Go(func() { _ = w.stream.Send(message) })
	}
	r.wrap = nil
	settled := r.settle(workers, most)
	if settled > most {
		t.Errorf("%d MiB came of messages without an end, want at most %d", settled>>20, most>>20)
	}
	const sending = workers * maxMessage // each worker has its message, in this process
	if grown := int64(heap()) - int64(before) - sending; grown > 2*most {
		t.Errorf("the heap grew by %d MiB, want at most %d", grown>>20, 2*most>>20)
	}
	honest := r.connect("neighbour", 0, "pod")
	honest.send(message)
	wantEnd(t, honest.end(), codes.InvalidArgument, "the plan has 1")
	deadline := time.After(timeout)
	for taken := workers; taken > workers-2; {
		r.fireOf(maxHold) // what came may be too little yet for a message to have its place
		_, namespaces := r.connections.reception.tiers[1].Counts()
		select {
		case <-deadline:
			t.Fatalf("messages of %d namespaces hold their places", namespaces)
		default:
			taken = int(testutil.ToFloat64(r.metrics.sessions))
		}
	}
	for _, w := range hostile {
		w.disconnect()
	}
	senders.Wait()
}

// settle returns how much came once that does not change, or it is too much.
func (r *fixture) settle(workers int, most int64) (n int64) {
	deadline := time.After(timeout)
	for same := 0; same < 20 && n <= most; same++ {
		for range 1000 {
			runtime.Gosched()
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-deadline:
			return n
		}
		now := r.connections.received()
		if now != n || now < int64(workers)*window {
			same = 0
		}
		n = now
	}
	return n
}

// What waits for its step is counted as what is kept, so that a run cannot have more of
// it.
func TestSnapshotsThatWaitTakeRoom(t *testing.T) {
	c, _, _ := newIdleCoordinator()
	d := running("a", 1, 0)
	d.Start = nil
	c.Direct("a", d)
	s := attached(t, c, "a", 0)
	s.stream = &pipe{ctx: t.Context()}
	m := snapshot(t, 0, 1, false, 1000)
	waiting := make(chan error)
	go func() { waiting <- c.snapshot(s, m) }()
	reserved := func() (n int) {
		c.locked(func() { n = c.kept })
		return n
	}
	for reserved() == 0 {
		runtime.Gosched()
	}
	if n := reserved(); n != footprint(m) || n < 1000 {
		t.Errorf("%d bytes are kept for a snapshot that waits, want %d", n, footprint(m))
	}
	c.locked(func() { c.keep(c.runs["a"], maxKeptOfRun-c.kept) })
	if err := c.snapshot(s, m); status.Code(err) != codes.ResourceExhausted {
		t.Errorf("one more: %v, want that there is no room", err)
	}
	c.locked(func() { c.keep(c.runs["a"], c.runs["a"].waiting-c.kept) })
	c.Direct("a", running("a", 1, 0))
	if err := <-waiting; err != nil || sent(c.Observe("a")) != 1000 {
		t.Errorf("%v, sent %d", err, sent(c.Observe("a")))
	}
	if n, size := reserved(), c.runs["a"].workers[0].snapshots[0].size; n != size {
		t.Errorf("%d bytes are kept, want %d", n, size)
	}
}

// A forgotten run has no room any more, even if a snapshot of it waits.
func TestForgottenRunsHaveNoRoom(t *testing.T) {
	c, _, _ := newIdleCoordinator()
	d := running("a", 1, 0)
	d.Start = nil
	c.Direct("a", d)
	release, err := c.reserve(c.runs["a"], 1000)
	if err != nil {
		t.Fatal(err)
	}
	c.Forget("a")
	release()
	if c.kept != 0 {
		t.Errorf("%d bytes are kept", c.kept)
	}
}

// Assignments that no worker reads take the room of some, end after a while, and leave
// room for those of another namespace.
func TestUnreadAssignmentsShareSomeRoom(t *testing.T) {
	const workers = 2 * maxSendingOfNamespace
	r := newFixture(t)
	for _, run := range []string{"a", "neighbour"} {
		d := running(run, workers, 0)
		for _, a := range d.Assignments {
			a.Requests[0].Body = make([]byte, 1<<20)
		}
		r.Direct(RunID(run), d)
	}
	for i := range int32(workers) {
		r.dial(fmt.Sprintf("a/%d/pod", i)).send(helloOf("a", i))
	}
	deadline := time.Now().Add(timeout)
	for taken := 0; taken < maxSendingOfNamespace || testutil.ToFloat64(r.metrics.sessions) < workers; taken, _ = r.sending.Counts() {
		if time.Now().After(deadline) {
			t.Fatalf("%d assignments are on their way", taken)
		}
		runtime.Gosched()
	}
	honest := r.connect("neighbour", 0, "pod")
	wantReceived(t, honest, "assignment 0/32", "acknowledge before 0", "start 0 at 12:00:00")
	if taken, _ := r.sending.Counts(); taken > maxSendingOfNamespace {
		t.Errorf("%d assignments are on their way, want %d", taken, maxSendingOfNamespace)
	}
	for testutil.ToFloat64(r.metrics.sessions) > workers-2 {
		runtime.Gosched()
		r.fireOf(maxHold)
		r.fireOf(hangUpTimeout)
		if time.Now().After(deadline) {
			t.Fatal("the sessions that do not read go on")
		}
	}
}

// No message is unpacked: a kilobyte would become a megabyte before it is counted.
func TestNoCompressionIsSpoken(t *testing.T) {
	for _, name := range []string{"gzip", "deflate", "snappy", "zstd"} {
		if encoding.GetCompressor(name) != nil {
			t.Errorf("the coordinator unpacks %s", name)
		}
	}
}
