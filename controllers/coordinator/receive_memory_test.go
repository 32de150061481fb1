package coordinator

import (
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/status"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/test/await"
	"github.com/loadtest-dev/loadtest-operator/test/must"
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
	const workers = 12
	const most = 2*maxMessage + workers*(600<<10)
	simulate(t, func(t *testing.T, r *fixture) {
		r.Direct("a", running("a", workers, 0))
		r.Direct("neighbour", running("neighbour", 1, 0))
		message := large()
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
		synctest.Wait()
		if n := r.connections.received(); n > most || n < maxMessage {
			t.Errorf("%d MiB came of messages without an end, want at most %d", n>>20, most>>20)
		}
		honest := r.connect("neighbour", 0, "pod")
		honest.send(message)
		wantEnd(t, honest.end(), codes.InvalidArgument, "the plan has 1")
		synctest.Wait()
		// Those that hold the places of the largest messages go.
		r.fireOf(maxHold)
		synctest.Wait()
		if n := testutil.ToFloat64(r.metrics.sessions); n > workers-2 {
			t.Errorf("%v sessions go on, want that those are over which held a place for too long", n)
		}
		for _, w := range hostile {
			w.disconnect()
		}
		senders.Wait()
	})
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
	await.True(t, "the snapshot waits", func() bool { return reserved() > 0 })
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

// A forgotten run has no room any more, whether a snapshot of it waits or comes a moment later.
func TestForgottenRunsHaveNoRoom(t *testing.T) {
	c, _, _ := newIdleCoordinator()
	d := running("a", 1, 0)
	d.Start = nil
	c.Direct("a", d)
	run := c.runs["a"]
	before, err := c.reserve(run, 1000)
	must.Succeed(t, err)
	c.Forget("a")
	after, err := c.reserve(run, 1000)
	must.Succeed(t, err)
	before()
	after()
	if c.kept != 0 {
		t.Errorf("%d bytes are kept", c.kept)
	}
}

// Assignments that no worker reads take the room of some, end after a while, and leave
// room for those of another namespace.
func TestUnreadAssignmentsShareSomeRoom(t *testing.T) {
	const workers = 2 * maxSendingOfNamespace
	simulate(t, func(t *testing.T, r *fixture) {
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
		synctest.Wait()
		if taken, _ := r.sending.Counts(); taken != maxSendingOfNamespace {
			t.Errorf("%d assignments are on their way, want %d", taken, maxSendingOfNamespace)
		}
		honest := r.connect("neighbour", 0, "pod")
		wantReceived(t, honest, "assignment 0/32", "acknowledge before 0", "start 0 at 12:00:00")
		for _, timer := range []time.Duration{maxHold, hangUpTimeout} {
			r.fireOf(timer)
			synctest.Wait()
		}
		if n := testutil.ToFloat64(r.metrics.sessions); n != workers-maxSendingOfNamespace+1 {
			t.Errorf("%v sessions, want that those are over which did not read", n)
		}
	})
}

// No message is unpacked: a kilobyte would become a megabyte before it is counted.
func TestNoCompressionIsSpoken(t *testing.T) {
	for _, name := range []string{"gzip", "deflate", "snappy", "zstd"} {
		if encoding.GetCompressor(name) != nil {
			t.Errorf("the coordinator unpacks %s", name)
		}
	}
}
