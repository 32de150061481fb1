package loop

import (
	"time"

	"golang.org/x/sys/unix"

	"github.com/loadtest-dev/loadtest-operator/loadworker/transport/socket"
)

const (
	// sampledEvery: of one of so many connections it is always known how long its responses
	// waited to be read. The others are not a fair sample: of them it is known if it was long.
	sampledEvery = 16
	// lateAfter is the shortest wait that is known of each response. To know it costs another
	// kind of read, which takes some 0.4 us of processor time more: a loop that does all it can
	// is late by some hundred microseconds all the time, and would read nothing else.
	lateAfter = time.Millisecond
)

// punctuality is what is known of how late the loop reads, since it last asked for events.
type punctuality struct {
	known bool
	// oldest is the instant at which the first of the bytes came of which that is known.
	oldest time.Duration
}

// note notes how long bytes had waited that were read just now; 0: not known.
func (p *punctuality) note(now, waited time.Duration) {
	if came := now - waited; !p.known || came < p.oldest {
		p.known, p.oldest = true, came
	}
}

// told is what is known of the last time that the loop was told of events.
type told struct {
	// at is the instant of it, of all whether it was told of all that there was.
	at  time.Duration
	all bool
}

// again returns what is known of the bytes that the loop is told of now; all says whether it is
// told of all that there are. They came since it was last told of all that there was: what is
// read soon after that needs no question how long it waited.
func (t *told) again(now time.Duration, all bool) (p punctuality) {
	if t.all {
		p = punctuality{known: true, oldest: t.at}
	}
	*t = told{at: now, all: all}
	return p
}

// mayBeLate reports whether bytes that are read now may have waited for long. Of the first it
// is not known if the process may have stood still before it was told of any.
func (p *punctuality) mayBeLate(now time.Duration) bool {
	return !p.known || now-p.oldest > lateAfter
}

// Sampled reports whether it is always known how long responses waited to be read.
func (c *Conn) Sampled() bool { return c.stamped && c.number%sampledEvery == 0 }

// now is the time: of the first read after a wait, for each of which the clock would cost as
// much again, the instant at which the wait ended.
func (l *Loop) now() time.Duration {
	if l.justTold {
		l.justTold = false
		return l.told.at
	}
	return time.Since(l.start)
}

// readInto reads once into the loop's buffer. waited is how long ago the last of it
// came; 0: not known.
func (c *Conn) readInto() (n int, waited time.Duration, errno unix.Errno) {
	l := c.loop
	if !c.stamped || !c.Sampled() && !l.punctuality.mayBeLate(l.now()) {
		n, errno = socket.Read(c.fd, l.in)
		return n, 0, errno
	}
	if n, waited, errno = socket.ReadStamped(c.fd, l.in, &l.control); n > 0 {
		l.punctuality.note(time.Since(l.start), waited)
	}
	return n, waited, errno
}
