package coordinator

import (
	"errors"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"google.golang.org/grpc/codes"

	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/test/await"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// knock opens that many connections from an address of this machine, says nothing, and
// returns them.
func (r *fixture) knock(from string, times int) []net.Conn {
	r.t.Helper()
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}, Timeout: await.Patience}
	var open []net.Conn
	for range times {
		conn, err := dialer.Dial("tcp", r.addr)
		must.Succeed(r.t, err)
		r.t.Cleanup(func() { _ = conn.Close() })
		open = append(open, conn)
	}
	return open
}

// waitForEnd reads until the other side closes the connection.
func waitForEnd(t *testing.T, conn net.Conn) {
	t.Helper()
	must.Succeed(t, conn.SetReadDeadline(time.Now().Add(await.Patience)))
	for buffer := make([]byte, 512); ; {
		_, err := conn.Read(buffer)
		if isTimeout(err) {
			t.Fatal("the connection is still open")
		}
		if err != nil {
			return
		}
	}
}

func (l *connections) counts() (open, strangers int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.open), l.count
}

// However many connections an address holds without a session, a worker comes in, from
// another address and from that one, and those that have a session keep it.
func TestStrangersDoNotShutWorkersOut(t *testing.T) {
	r, before := withWorker(t, running("a", 3, 0))
	strangers := r.knock("127.0.0.2", 2*maxStrangers)
	other := r.knock("127.0.0.3", 1)[0]
	for _, from := range []string{"127.0.0.1", "127.0.0.2"} {
		r.from = from
		w := r.connect("a", map[string]int32{"127.0.0.1": 1, "127.0.0.2": 2}[from], "pod")
		w.sync()
	}
	before.sync()
	waitForEnd(t, strangers[0])
	if open, count := r.connections.counts(); count > maxStrangers || open != count+3 {
		t.Errorf("%d connections are open, %d without a session; want at most %d, and the three of workers", open, count, maxStrangers)
	}
	if got := testutil.ToFloat64(r.metrics.rejected.WithLabelValues(string(rejectStranger))); got < maxStrangers {
		t.Errorf("loadtest_coordinator_rejected_total{reason=stranger}: %v, want %d or more", got, maxStrangers)
	}
	// It is alone at its address, and not the one that has most.
	must.Succeed(t, other.SetReadDeadline(time.Now()))
	if _, err := other.Read(make([]byte, 1)); !isTimeout(err) {
		t.Errorf("the connection of another address: %v, want that it is open", err)
	}
}

func isTimeout(err error) bool {
	var timed net.Error
	return errors.As(err, &timed) && timed.Timeout()
}

// The oldest goes, of the address that has most.
func TestWhichConnectionGoes(t *testing.T) {
	l := newConnections(nil, 3, func(rejection) {}, nil)
	for _, step := range []struct{ comes, goes string }{
		{"10.0.0.1:1", ""}, {"10.0.0.2:1", ""}, {"10.0.0.1:2", ""},
		{"10.0.0.1:3", "10.0.0.1:1"},
		{"10.0.0.3:1", "10.0.0.1:2"},
	} {
		goes := ""
		if surplus := l.add(&connection{of: l, name: step.comes}); surplus != nil {
			goes = surplus.name
			l.remove(surplus)
		}
		if goes != step.goes {
			t.Errorf("%s comes, %q goes, want %q", step.comes, goes, step.goes)
		}
	}
	// One with a session does not go, even if its address has most.
	l.find("10.0.0.1:3").claim("team-a")
	for _, name := range []string{"10.0.0.1:4", "10.0.0.1:5"} {
		if surplus := l.add(&connection{of: l, name: name}); surplus != nil && surplus.name == "10.0.0.1:3" {
			t.Error("the one with a session goes")
		}
	}
}

// A connection counts as a stranger's again once its session is over.
func TestConnectionIsReleasedByItsSession(t *testing.T) {
	r, w := withWorker(t, running("a", 1, 0))
	if open, count := r.connections.counts(); open != 1 || count != 0 {
		t.Errorf("%d connections, %d without a session; want one with", open, count)
	}
	must.Succeed(t, w.stream.CloseSend())
	wantEnd(t, w.end(), codes.Unknown, "EOF")
	r.until("disconnected", func(o exchange.Observation) bool { return !o.Workers[0].Connected })
	if open, count := r.connections.counts(); open != 1 || count != 1 {
		t.Errorf("%d connections, %d without a session; want one without", open, count)
	}
}

// A worker that does not read holds its session's sender, and what it is sent.
func TestSessionThatDoesNotReadIsHungUp(t *testing.T) {
	simulate(t, func(t *testing.T, r *fixture) {
		d := running("a", 1, 0)
		d.Assignments[0].Requests[0].Body = make([]byte, 1<<20)
		r.Direct("a", d)
		r.dial("a/0/pod").send(helloOf("a", 0))
		synctest.Wait()
		young := r.connect("a", 0, "pod")
		synctest.Wait()
		r.fireOf(hangUpTimeout)
		synctest.Wait()
		if n := testutil.ToFloat64(r.metrics.sessions); n != 1 {
			t.Errorf("%v sessions, want that of the worker that reads", n)
		}
		young.sync()
	})
}

// An address that cannot be parsed is one of its own.
func TestAddressOfAConnection(t *testing.T) {
	for name, want := range map[string]string{"10.1.2.3:4567": "10.1.2.3", "[fd00::1]:4567": "fd00::1", "@": "@"} {
		same.As(t, name, want, (&connection{name: name}).address())
	}
}
