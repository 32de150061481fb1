package loop

import (
	"math"
	"os"
	"time"
)

// Waiter is what waits until a deadline.
type Waiter interface {
	// GiveUp ends the wait, because of os.ErrDeadlineExceeded or failure.ErrInterrupted.
	GiveUp(err error)
}

// Deadline is the end of a wait. The zero value ends none.
type Deadline struct {
	waiter     Waiter
	conn       *Conn         // what it waits for comes on
	at         time.Duration // its place in the lane
	later      time.Duration // to which it was moved; at: it was not
	lane       *lane         // nil: it is not awaited
	next, prev *Deadline
}

// Await has a waiter give up at an instant, unless Answered is called before. It waits for
// bytes of the connection.
func (c *Conn) Await(d *Deadline, w Waiter, at time.Duration) {
	d.waiter, d.conn, d.at, d.later = w, c, at, at
	c.loop.waiting.add(d)
}

// Move moves a deadline, if it is awaited, to another instant. To move it away costs nothing: its place
// changes once it would have passed, and not with each of the many events that move it.
func (l *Loop) Move(d *Deadline, to time.Duration) {
	d.later = to
	if to < d.at && l.waiting.has(d) {
		l.waiting.move(d)
	}
}

// Answered ends a wait, if there is one.
func (l *Loop) Answered(d *Deadline) { l.waiting.remove(d) }

// expire ends the waits whose deadline has passed. It reads first: if the process stood still,
// the answer may have come long ago, and there may be more events than one Wait takes.
func (l *Loop) expire(now time.Duration) {
	for d := l.waiting.nearest(); d != nil && d.at <= now; d = l.waiting.nearest() {
		if d.later > d.at {
			l.waiting.move(d)
			continue
		}
		l.punctuality = punctuality{} // this answer may have come before all others
		d.conn.readPending()
		if l.waiting.has(d) && d.later <= now {
			l.giveUp(d, os.ErrDeadlineExceeded)
		}
	}
}

func (l *Loop) giveUp(d *Deadline, err error) {
	l.waiting.remove(d)
	d.waiter.GiveUp(err)
}

// deadlines are those that are awaited, in lanes: in each, the nearest is first. Requests with
// the same timeout come nearly in the order of their deadlines, so that a lane for each
// timeout takes most of them at its end.
type deadlines struct{ lanes []*lane }

// lane is a list of deadlines, nearest first.
type lane struct{ first, last *Deadline }

const (
	// maxLanes is how many there are at most: with more timeouts, some share one.
	maxLanes = 16
	// maxSteps is how far from its end a deadline is put into a lane, while there may be
	// another.
	maxSteps = 8
)

// nearest is the deadline that ends first; nil: there is none.
func (q *deadlines) nearest() (d *Deadline) {
	for _, l := range q.lanes {
		if l.first != nil && (d == nil || l.first.at < d.at) {
			d = l.first
		}
	}
	return d
}

func (q *deadlines) add(d *Deadline) {
	for _, l := range q.lanes {
		if l.add(d, maxSteps) {
			return
		}
	}
	if len(q.lanes) < maxLanes {
		q.lanes = append(q.lanes, &lane{})
	}
	q.lanes[len(q.lanes)-1].add(d, math.MaxInt)
}

// add adds a deadline, unless its place is more than some steps from the end.
func (l *lane) add(d *Deadline, steps int) bool {
	after := l.last
	for ; after != nil && after.at > d.at; after = after.prev {
		if steps--; steps < 0 {
			return false
		}
	}
	d.lane, d.prev = l, after
	if after == nil {
		d.next, l.first = l.first, d
	} else {
		d.next, after.next = after.next, d
	}
	if d.next == nil {
		l.last = d
	} else {
		d.next.prev = d
	}
	return true
}

// move puts a deadline that is awaited where it was moved to.
func (q *deadlines) move(d *Deadline) {
	q.remove(d)
	d.at = d.later
	q.add(d)
}

// has reports whether a deadline is awaited.
func (*deadlines) has(d *Deadline) bool { return d.lane != nil }

// remove removes a deadline, if it is awaited.
func (q *deadlines) remove(d *Deadline) {
	if !q.has(d) {
		return
	}
	if d.prev != nil {
		d.prev.next = d.next
	} else {
		d.lane.first = d.next
	}
	if d.next == nil {
		d.lane.last = d.prev
	} else {
		d.next.prev = d.prev
	}
	d.lane, d.next, d.prev = nil, nil, nil
}
