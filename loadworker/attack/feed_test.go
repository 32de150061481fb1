package attack

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/dial"
	"github.com/loadtest-dev/loadtest-operator/loadworker/health"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport/http1"
	"github.com/loadtest-dev/loadtest-operator/pace"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// stubConn is a connection that a pool may hold.
type stubConn struct{ open bool }

func (c *stubConn) IsOpen() bool { return c.open }

func TestIdlePoolTakesTheLastUsedFirst(t *testing.T) {
	slot := func(open bool) *connSlot { return &connSlot{socket: &stubConn{open}} }
	a, b, c, closed := slot(true), slot(true), slot(true), slot(false)
	var p idlePool
	for _, s := range []*connSlot{closed, a, b, c} {
		p.put(s)
	}
	c.socket.(*stubConn).open = false // meanwhile
	want := []struct {
		conn *connSlot
		open bool
	}{{b, true}, {a, true}, {c, false}, {closed, false}}
	for i, w := range want {
		open := p.hasOpen()
		if got, ok := p.take(); got != w.conn || !ok || open != w.open {
			t.Errorf("%d. taken: open %v, %v, want %v and the right one", i+1, open, ok, w.open)
		}
	}
	if got, ok := p.take(); ok || p.hasOpen() {
		t.Errorf("%v is taken of an empty pool", got)
	}
}

// stubDriver adds connections that are closed.
type stubDriver struct {
	driver
	openings *dial.Openings
}

func (d *stubDriver) mayOpen() bool { return !d.openings.Full() }

func (*stubDriver) add(transport.Conn) *connSlot { return &connSlot{socket: &stubConn{}} }

// Of 64 that may be opened at once and 96 connections in all, one feed of 32 has
// two and three.
func TestArrivalFeedBoundsItsConnections(t *testing.T) {
	dialer, err := dial.NewDialer(dial.Config{URL: "http://x"})
	must.Succeed(t, err)
	d := &stubDriver{}
	s := &scheduler{parts: 32, driver: d}
	d.openings = s.openings(nil)
	s.x = &Execution{runner: &Runner{client: http1.NewClient(dialer, "")}, stood: (&health.Stalls{}).Until}
	a := &arrivals{dueTimes: pace.Rate(1e9), duration: time.Hour, limit: 96}
	f := a.feed(s)
	var opened []*dial.Opening
	take := func() *connSlot {
		t.Helper()
		if _, ok := f.next(); !ok {
			t.Fatal("no connection may be opened")
		}
		_, opening := d.openings.Begin(t.Context())
		opened = append(opened, opening)
		return f.take()
	}
	refuses := func(why string) {
		t.Helper()
		if _, ok := f.next(); ok {
			t.Error(why)
		}
	}
	first, second := take(), take()
	refuses("a third connection may be opened while two are")
	opened[0].End()
	third := take()
	for _, o := range opened {
		o.End()
	}
	refuses("a fourth connection may be opened")
	if first == second || second == third {
		t.Error("a connection was taken that carries a request")
	}
	f.ended(second, result{})
	if again := take(); again != second {
		t.Error("the connection that is closed was not opened again")
	}
}

func TestUserQueueIsInOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var q userQueue
	var want []time.Duration
	for range 5000 {
		if len(want) > 0 && random.IntN(5) < 2 {
			if got := q.pop(); got.due != want[0] || got.user != int(got.due) {
				t.Fatalf("popped %+v, want due %d", got, want[0])
			}
			want = want[1:]
			continue
		}
		due := time.Duration(random.IntN(1000))
		q.push(queuedUser{due: due, user: int(due)})
		i, _ := slices.BinarySearch(want, due)
		want = slices.Insert(want, i, due)
	}
	for _, due := range want {
		if got := q.pop(); got.due != due {
			t.Fatalf("popped %+v, want due %d", got, due)
		}
	}
	if len(q) != 0 {
		t.Errorf("%d left", len(q))
	}
}

// overdueFeed has requests that are all due already.
type overdueFeed struct {
	feed
	taken int
}

func (*overdueFeed) next() (time.Duration, bool) { return -time.Hour, true }

func (f *overdueFeed) take() *connSlot {
	f.taken++
	return &connSlot{hit: hit{number: int64(f.taken)}}
}

func (*overdueFeed) ended(*connSlot, result) {}

// readyDriver has the responses of all requests at once.
type readyDriver struct {
	driver
	ready []*connSlot
}

func (d *readyDriver) send(c *connSlot) { d.ready = append(d.ready, c) }

// read reads as many responses as a wait of an event loop ends with, as the loops' drivers do.
func (d *readyDriver) read(s *scheduler) {
	list := d.ready[:min(len(d.ready), 2*atOnce)]
	d.ready = slices.Clone(d.ready[len(list):])
	for _, c := range list {
		s.ended(c, result{})
		s.sendAfter(0)
	}
}

// A worker that is behind, because it was not let run, does not stay so with a request in flight over each of its
// connections, of which each would cost more than few do.
func TestAWorkerThatIsBehindHasFewRequestsInFlight(t *testing.T) {
	for _, before := range []int{0, atOnce, 10_000} {
		d, f := &readyDriver{}, &overdueFeed{}
		s := &scheduler{x: &Execution{start: time.Now()}, parts: 1, feed: f, driver: d}
		for s.inFlight < before {
			s.sendDue(0)
		}
		s.sent = 0
		for turn := range 1000 {
			taken := f.taken
			d.read(s)
			s.sendBatch()
			if sent := f.taken - taken; sent != atOnce {
				t.Fatalf("from %d in flight, %d are sent in turn %d, want %d", before, sent, turn, atOnce)
			}
		}
		if s.inFlight > 2*atOnce || s.inFlight != len(d.ready) {
			t.Errorf("from %d in flight, %d are, of which %d have their responses; want at most %d", before, s.inFlight, len(d.ready), 2*atOnce)
		}
	}
}
