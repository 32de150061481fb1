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
	at         time.Duration
	next, prev *Deadline
}

// Await has a waiter give up at an instant, unless Answered is called before.
func (l *Loop) Await(d *Deadline, w Waiter, at time.Duration) {
	d.waiter, d.at = w, at
	l.waiting.add(d)
}

// Answered ends a wait, if there is one.
func (l *Loop) Answered(d *Deadline) { l.waiting.remove(d) }

// expire ends the waits whose deadline has passed.
func (l *Loop) expire(now time.Duration) {
	for d := l.waiting.first; d != nil && d.at <= now; d = l.waiting.first {
		l.giveUp(d, os.ErrDeadlineExceeded)
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

// remove removes a deadline, if it is in the queue.
func (q *deadlines) remove(d *Deadline) {
	switch {
	case d.prev != nil:
		d.prev.next = d.next
	case q.first == d:
		q.first = d.next
	default:
		return
	}
	if d.next == nil {
		q.last = d.prev
	} else {
		d.next.prev = d.prev
	}
	d.next, d.prev = nil, nil
}
