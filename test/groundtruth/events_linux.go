package groundtruth

import (
	"time"

	"golang.org/x/sys/unix"
)

// schedule sets the timers of the script once the first request has come.
func (l *loop) schedule() {
	first := l.server.counts.first.Load()
	if first == 0 || l.scripted {
		return
	}
	l.scripted = true
	for _, e := range l.server.script {
		if span := e.during(first); e.Kind == Refuse {
			l.timers.push(timer{at: span.From})
			l.timers.push(timer{at: span.To})
		}
	}
}

// expire runs the timers that are due, not those that they set: what comes has its turn
// before.
func (l *loop) expire() {
	for n := len(l.timers); n > 0 && len(l.timers) > 0 && l.timers[0].at <= Now(); n-- {
		t := l.timers.pop()
		switch c := t.conn; {
		case c == nil:
			l.refuse(t.at)
		case !c.gone && c.busy && !c.blocked:
			l.resume(c)
		}
	}
}

// stall stands still while the script says so. What was to be done up to idle
// has been done; what came since the stall began, or falls due, waits for its
// end, also if this thread was not let run in time to see it begin, or end.
func (l *loop) stall(idle int64) {
	first := l.server.counts.first.Load()
	if first == 0 {
		return
	}
	for _, e := range l.server.script {
		now, span := Now(), e.during(first)
		if e.Kind != Stall || now < span.From || idle >= span.To {
			continue
		}
		if now < span.To {
			l.sleepUntil(span.To)
			span.To = Now()
		}
		l.server.stalled(Span{From: max(idle, span.From), To: span.To})
	}
}

func (l *loop) sleepUntil(end int64) {
	for left := end - Now(); left > 0 && !l.server.closing.Load(); left = end - Now() {
		ts := unix.NsecToTimespec(min(left, int64(10*time.Millisecond)))
		_ = unix.Nanosleep(&ts, nil)
	}
}

// refuse closes the port and all connections, or opens the port again, as a timer for the instant at says. A thread
// that was not let run while the port was to be closed leaves it open, and still closes the connections.
func (l *loop) refuse(at int64) {
	refusing := l.server.happening(Refuse, Now())
	if refusing == l.refusing {
		if !refusing && l.server.happening(Refuse, at) {
			l.drop()
		}
		return
	}
	l.refusing = refusing
	if refusing {
		_ = unix.Close(l.listener)
		l.listener = -1
		l.drop()
		return
	}
	// The port is held: nothing but a lack of descriptors can take it, and then the server is at its
	// end anyway.
	if l.listen() != nil {
		l.server.closing.Store(true)
	}
}
