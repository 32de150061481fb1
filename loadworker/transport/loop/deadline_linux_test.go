package loop

import (
	"errors"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// request waits for an answer on a connection of its own, of which it takes a number of bytes.
type request struct {
	receiver
	deadline Deadline
	got      int
	answered bool
	err      error // that it gave up because of
}

func (q *request) GiveUp(err error) { q.err = err }

// begin begins a request on a connection, whose answer is so many bytes.
func (l *Loop) begin(t *testing.T, near *os.File, answer int, until time.Duration) *request {
	t.Helper()
	q := &request{}
	q.receive = func(in []byte) bool {
		if q.got += len(in); q.got >= answer && !q.answered {
			q.answered = true
			l.Answered(&q.deadline)
		}
		return true
	}
	l.Add(&q.conn, q)
	fd, err := unix.FcntlInt(near.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err == nil {
		err = errors.Join(unix.SetNonblock(fd, true), near.Close())
	}
	if err == nil {
		err = q.conn.connect(fd, nil)
	}
	must.Succeed(t, err)
	q.conn.Await(&q.deadline, q, until)
	return q
}

// files are the two sides of a connection.
func files(t *testing.T) (near, far *os.File) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	must.Succeed(t, err)
	near, far = os.NewFile(uintptr(fds[0]), ""), os.NewFile(uintptr(fds[1]), "")
	t.Cleanup(func() { _, _ = near.Close(), far.Close() })
	return near, far
}

// The process stood still while all answers but one came: more than one wait has room for,
// and one of them larger than one read takes.
func TestAnswersAreReadBeforeTheirDeadlinesExpire(t *testing.T) {
	l := newTestLoop(t, nil)
	const large = inBuffer + 1
	var requests []*request
	for i := range 600 {
		near, far := files(t)
		answer := 6
		if i == 599 {
			answer = large
		}
		requests = append(requests, l.begin(t, near, answer, 0)) // the deadline has passed
		if i == 300 {
			continue
		}
		if _, err := far.Write(make([]byte, answer)); err != nil {
			t.Fatal(err)
		}
	}
	l.Wait(0)
	for i, q := range requests {
		if silent := i == 300; q.answered == silent || errors.Is(q.err, os.ErrDeadlineExceeded) != silent {
			t.Errorf("request %d: answered %v, %v", i, q.answered, q.err)
		}
	}
}

// A side that goes on sending while it is read does not keep a deadline from expiring.
func TestADeadlineExpiresOnAConnectionThatIsNeverEmpty(t *testing.T) {
	l := newTestLoop(t, nil)
	near, far := files(t)
	q := l.begin(t, near, 1<<30, 0)
	reads := 0
	q.receive = func(in []byte) bool {
		if reads++; reads > 100 {
			t.Fatal("the loop reads without end")
		}
		_, _ = far.Write(in)
		return true
	}
	if _, err := far.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	l.expire(0)
	if !errors.Is(q.err, os.ErrDeadlineExceeded) || reads != 2 {
		t.Errorf("%v after %d reads; want that it expires after what had come, and the read behind it", q.err, reads)
	}
}

// The end of a connection may be the end of the answer.
func TestTheEndOfAConnectionIsReadBeforeADeadlineExpires(t *testing.T) {
	l := newTestLoop(t, nil)
	near, far := files(t)
	q := l.begin(t, near, 1, 0)
	ended := false
	q.receive = func(in []byte) bool {
		if ended = len(in) == 0; ended {
			l.Answered(&q.deadline)
		}
		return true
	}
	if _, err := far.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	_ = far.Close()
	l.expire(0)
	if !ended || q.err != nil {
		t.Errorf("the end was read: %v, %v", ended, q.err)
	}
}

// A deadline that is nearest when another expires is given up in its turn, and one that
// was answered is not.
func TestDeadlinesExpire(t *testing.T) {
	l := newTestLoop(t, nil)
	var order []int
	var all [3]Deadline
	e := &echoed{}
	l.Add(&e.conn, e)
	for i, at := range []time.Duration{20 * time.Millisecond, 10 * time.Millisecond, 15 * time.Millisecond} {
		e.conn.Await(&all[i], waiter(func(err error) {
			if order = append(order, i); !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("deadline %d: %v", i, err)
			}
		}), at)
	}
	l.Answered(&all[2])
	l.await(t, func() bool { return len(order) == 2 })
	if !slices.Equal(order, []int{1, 0}) {
		t.Errorf("given up in the order %v, want 1, 0", order)
	}
}

// A deadline that was moved expires where it was moved to last. Only to move it nearer changes its place at once.
func TestADeadlineThatWasMovedExpiresThere(t *testing.T) {
	for name, tt := range map[string]struct {
		to    []time.Duration // from 10
		place time.Duration   // before it passes
		at    time.Duration   // it expires
	}{
		"away":               {[]time.Duration{20, 30}, 10, 30},
		"nearer":             {[]time.Duration{5}, 5, 5},
		"to and fro":         {[]time.Duration{30, 5, 20}, 5, 20},
		"nearer than before": {[]time.Duration{30, 20}, 10, 20},
		"to the same":        {[]time.Duration{10}, 10, 10},
	} {
		t.Run(name, func(t *testing.T) {
			l := newTestLoop(t, nil)
			e := &echoed{}
			l.Add(&e.conn, e)
			var moved, other Deadline
			gaveUp := false
			e.conn.Await(&moved, waiter(func(error) { gaveUp = true }), 10)
			e.conn.Await(&other, waiter(func(error) {}), 1000)
			for _, to := range tt.to {
				l.Move(&moved, to)
			}
			if moved.at != tt.place || l.waiting.nearest() != &moved {
				t.Errorf("its place is at %v, want %v", moved.at, tt.place)
			}
			for now := range time.Duration(50) {
				if l.expire(now); gaveUp != (now >= tt.at) {
					t.Fatalf("at %v, it has expired: %v; want it at %v", now, gaveUp, tt.at)
				}
				l.waiting.check(t)
			}
			l.Move(&moved, 1) // it is not awaited any more
			if n := l.waiting.check(t); n != 1 {
				t.Errorf("%d deadlines are awaited", n)
			}
		})
	}
}

// What had come before a deadline may move it: it does not expire then.
func TestADeadlineIsMovedByWhatHadCome(t *testing.T) {
	l := newTestLoop(t, nil)
	near, far := files(t)
	q := l.begin(t, near, 100, 10)
	q.receive = func([]byte) bool {
		l.Move(&q.deadline, 30)
		return true
	}
	if _, err := far.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	if l.expire(20); q.err != nil || !l.waiting.has(&q.deadline) {
		t.Errorf("%v; want that it goes on", q.err)
	}
	if l.expire(30); !errors.Is(q.err, os.ErrDeadlineExceeded) {
		t.Errorf("%v; want that it expires", q.err)
	}
}

type waiter func(error)

func (w waiter) GiveUp(err error) { w(err) }

// Deadlines of few or many timeouts end nearest first, and the list of each lane is whole.
func TestDeadlinesAreInOrder(t *testing.T) {
	for name, at := range map[string]func(i int, random *rand.Rand) time.Duration{
		"at random":             func(_ int, random *rand.Rand) time.Duration { return time.Duration(random.IntN(50)) },
		"with two timeouts":     func(i int, _ *rand.Rand) time.Duration { return time.Duration(i + i%2*5000) },
		"with more than lanes":  func(i int, _ *rand.Rand) time.Duration { return time.Duration(i + i%(2*maxLanes)*5000) },
		"with ever nearer ends": func(i int, _ *rand.Rand) time.Duration { return time.Duration(100_000 - i) },
		"nearly in their order": func(i int, random *rand.Rand) time.Duration { return time.Duration(10*i + random.IntN(100)) },
	} {
		t.Run(name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(1, 2))
			var q deadlines
			var want []*Deadline
			for i := range 2000 {
				if len(want) > 0 && random.IntN(3) == 0 {
					k := random.IntN(len(want))
					q.remove(want[k])
					q.remove(want[k]) // once more does nothing
					want = slices.Delete(want, k, k+1)
				} else {
					w := &Deadline{at: at(i, random)}
					q.add(w)
					want = append(want, w)
				}
				if n := q.check(t); n != len(want) {
					t.Fatalf("%d deadlines are awaited, want %d", n, len(want))
				}
			}
			slices.SortFunc(want, func(a, b *Deadline) int { return int(a.at - b.at) })
			for _, w := range want {
				d := q.nearest()
				if d == nil || d.at != w.at {
					t.Fatalf("the nearest is %v, want that at %d", d, w.at)
				}
				q.remove(d)
			}
			if d := q.nearest(); d != nil || len(q.lanes) > maxLanes {
				t.Errorf("%v is left, in %d lanes", d, len(q.lanes))
			}
		})
	}
}

// Deadlines of two timeouts that come in turn have a lane each.
func TestTimeoutsHaveLanes(t *testing.T) {
	var q deadlines
	for i := range 1000 {
		q.add(&Deadline{at: time.Duration(i + i%2*5000)})
	}
	if len(q.lanes) != 2 || q.lanes[0].last.at != 5999 || q.lanes[1].last.at != 998 {
		t.Errorf("%d lanes; want two, one of which has the nearer deadlines", len(q.lanes))
	}
}

// check checks the lists, and returns how many deadlines they have.
func (q *deadlines) check(t *testing.T) (n int) {
	t.Helper()
	for _, l := range q.lanes {
		var before *Deadline
		for d := l.first; d != nil; before, d = d, d.next {
			if n++; d.lane != l || d.prev != before || before != nil && before.at > d.at {
				t.Fatalf("the deadline at %d is not in its place", d.at)
			}
		}
		if l.last != before {
			t.Fatal("the last of a lane is not its end")
		}
	}
	return n
}
