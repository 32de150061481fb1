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

// expire does what is due.
func (l *loop) expire() {
	for len(l.timers) > 0 && l.timers[0].at <= Now() {
		t := l.timers.pop()
		switch c := t.conn; {
		case c == nil:
			l.refuse()
		case !c.gone && c.busy && !c.blocked:
			l.resume(c)
		}
	}
}

// happening is the event of a kind that happens now.
func (l *loop) happening(kind Kind, now int64) (Span, bool) {
	first := l.server.counts.first.Load()
	if first == 0 {
		return Span{}, false
	}
	for _, e := range l.server.script {
		if span := e.during(first); e.Kind == kind && span.contains(now) {
			return span, true
		}
	}
	return Span{}, false
}

func (l *loop) resetting(now int64) bool {
	if len(l.server.script) == 0 {
		return false
	}
	_, yes := l.happening(Resets, now)
	return yes
}

// stall stands still while the script says so. What was to be done up to idle
// has been done; what came since the stall began, or falls due, waits for its
// end, also if this thread was not let run in time to see it begin.
func (l *loop) stall(idle int64) {
	if len(l.server.script) == 0 {
		return
	}
	span, yes := l.happening(Stall, Now())
	if !yes {
		return
	}
	for left := span.To - Now(); left > 0 && !l.server.closing.Load(); left = span.To - Now() {
		ts := unix.NsecToTimespec(min(left, int64(10*time.Millisecond)))
		_ = unix.Nanosleep(&ts, nil)
	}
	l.server.stalled(Span{From: max(idle, span.From), To: Now()})
}

// stalled enters that a loop stood still.
func (s *Server) stalled(span Span) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stalls = append(s.stalls, span)
}

// refuse closes the port and all connections, or opens the port again.
func (l *loop) refuse() {
	_, refusing := l.happening(Refuse, Now())
	if refusing == l.refusing {
		return
	}
	l.refusing = refusing
	if refusing {
		_ = unix.Close(l.listener)
		l.listener = -1
		l.drop()
		return
	}
	// The port is this process's own: nothing but a lack of descriptors can
	// take it, and then the server is at its end anyway.
	if l.listen() != nil {
		l.server.closing.Store(true)
	}
}
