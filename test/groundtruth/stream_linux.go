package groundtruth

// delay is how much later than its request a reply is due.
func (c *conn) delay(wait int64) {
	if c.streaming != nil {
		c.streaming.wait = wait
	}
}

// stepsAtOnce bounds what a stream that is behind its schedule writes before others have
// their turn.
const stepsAtOnce = 64

// stream writes what is due of a stream.
func (l *loop) stream(c *conn) {
	s := c.streaming
	if s.play == nil {
		s.begin(l.server.seed, c.upgrade)
	}
	for steps := 0; ; steps++ {
		if due, now := s.due(), Now(); !s.begun && (due > now || steps >= stepsAtOnce) {
			l.timers.push(timer{at: max(due, now), conn: c})
			return
		}
		s.take()
		n, all := l.put(c, s.rest)
		s.rest = s.rest[n:]
		if !all {
			return
		}
		done := s.step
		l.server.wrote(&s.arrival, done)
		if done.end {
			l.server.ended(&s.arrival)
			l.finish(c)
			return
		}
		s.step, s.begun = s.play.next(), false
	}
}
