package loop

import (
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
	conn       *Conn // what it waits for comes on
	at         time.Duration
	next, prev *Deadline
}

// Await has a waiter give up at an instant, unless Answered is called before. It waits for
// bytes of the connection.
func (c *Conn) Await(d *Deadline, w Waiter, at time.Duration) {
	d.waiter, d.conn, d.at = w, c, at
	c.loop.waiting.add(d)
}

// Answered ends a wait, if there is one.
func (l *Loop) Answered(d *Deadline) { l.waiting.remove(d) }

// expire ends the waits whose deadline has passed. It reads first: if the process stood still,
// the answer may have come long ago, and there may be more events than one Wait takes.
func (l *Loop) expire(now time.Duration) {
	for d := l.waiting.first; d != nil && d.at <= now; d = l.waiting.first {
		l.punctuality = punctuality{} // this answer may have come before all others
		d.conn.readPending()
		if l.waiting.has(d) && d.at <= now {
			l.giveUp(d, os.ErrDeadlineExceeded)
		}
	}
}

func (l *Loop) giveUp(d *Deadline, err error) {
	l.waiting.remove(d)
	d.waiter.GiveUp(err)
}

// deadlines are those that are awaited, nearest first. All requests of a step have the
// same timeout, so that the next one nearly always belongs at the end.
type deadlines struct{ first, last *Deadline }

func (q *deadlines) add(d *Deadline) {
	after := q.last
	for after != nil && after.at > d.at {
		after = after.prev
	}
	d.prev = after
	if after == nil {
		d.next, q.first = q.first, d
	} else {
		d.next, after.next = after.next, d
	}
	if d.next == nil {
		q.last = d
	} else {
		d.next.prev = d
	}
}

// has reports whether a deadline is in the queue.
func (q *deadlines) has(d *Deadline) bool { return d.prev != nil || q.first == d }

// remove removes a deadline, if it is in the queue.
func (q *deadlines) remove(d *Deadline) {
	switch {
	case !q.has(d):
		return
	case d.prev != nil:
		d.prev.next = d.next
	default:
		q.first = d.next
	}
	if d.next == nil {
		q.last = d.prev
	} else {
		d.next.prev = d.prev
	}
	d.next, d.prev = nil, nil
}
