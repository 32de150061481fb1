package attack

import (
	"sync/atomic"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/pace"
)

// sessions are users that come at a rate, whether or not those before them have left. Each
// carries out one item of the mix, a journey or a single request, and leaves. Its first request is
// due when it comes, and each later one when the one before was answered and it has waited.
//
// A session has a connection of its own until it leaves. The limit of connections thus bounds the
// sessions under way: one that comes beyond it waits, which counts into its times, or is never
// begun.
type sessions struct {
	all     *arrivals
	items   []atomic.Int64 // of the mix: how many sessions of the window began it
	missed  []atomic.Int64 // by request: later ones that were due, and not sent
	journey int            // the first of the items that are journeys
}

var (
	_ schedule     = (*sessions)(nil)
	_ userSchedule = (*sessions)(nil)
)

func newSessions(a *arrivals, c Config) *sessions {
	// How long a session takes does not follow from a timeout: it may think.
	a.limit, a.shared.Connections = c.MaxConnections, 0
	n := c.Source.Len()
	return &sessions{all: a, items: make([]atomic.Int64, n+c.Source.Journeys()), missed: make([]atomic.Int64, n), journey: n}
}

// tallyDue adds nothing: when a later request of a session is due depends on the responses.
func (s *sessions) tallyDue(time.Duration, *source.Tally) {}

func (s *sessions) connections() int { return s.all.connections() }

func (s *sessions) maxParts() int64 { return s.all.maxParts() }

// dueAt has a session send as soon as it is free, as long as the window lasts.
func (s *sessions) dueAt(_, _ int64, free time.Duration) (time.Duration, bool) {
	return free, free < s.all.duration
}

// pause is none: a session whose request failed leaves.
func (s *sessions) pause(int64, int64, measure.Outcome) (forced, thinks time.Duration) {
	return 0, 0
}

// dropped counts a later request that was due in the window, and that its worker could not send.
func (s *sessions) dropped(h *hit) {
	if h.counts() {
		s.missed[h.request].Add(1)
	}
}

// begun counts a session that sends its first request.
func (s *sessions) begun(h *hit) {
	if h.counts() {
		s.items[h.walk.item].Add(1)
	}
}

// unbegun is how many sessions that were due in the window before an instant have not begun, by
// item of the mix.
func (s *sessions) unbegun(of *source.Source, until time.Duration) []int64 {
	tally, a := of.Tally(), s.all
	if until > 0 {
		a.tallyDue(until, tally)
	}
	left := tally.Items()
	for i := range left {
		left[i] = max(0, left[i]-s.items[i].Load())
	}
	return left
}

// started is how many sessions of the window have begun.
func (s *sessions) started() (n int64) {
	for i := range s.items {
		n += s.items[i].Load()
	}
	return n
}

// fillDueOfSessions is fillDue for sessions: what was sent was due, and so were the later requests that
// were missed, and the first one of each session that was due and has not begun.
func (x *Execution) fillDueOfSessions(s *measure.Measurement, of *sessions, until time.Duration) {
	for i := range s.Requests {
		s.Requests[i].Due = s.Requests[i].Sent + of.missed[i].Load()
	}
	for i := range s.Journeys {
		s.Journeys[i].Due = s.Journeys[i].Started
	}
	for item, n := range of.unbegun(x.source, until) {
		s.Requests[x.source.FirstOf(item)].Due += n
		s.Sessions.Due += n
		if item >= of.journey {
			s.Journeys[item-of.journey].Due += n
		}
	}
	var sent int64
	s.Due = 0
	for i := range s.Requests {
		s.Due += s.Requests[i].Due
		sent += s.Requests[i].Sent
	}
	// What was sent was counted before: a running step may have begun more since.
	s.Sessions.Started = min(of.started(), sent)
	s.Sessions.Due += s.Sessions.Started
}

// sessionFeed feeds a scheduler with its part of a step's sessions. Those under way are users of
// its userFeed, each at the index of its connection; those that come need no queue, as arrivals.
type sessionFeed struct {
	userFeed
	arrivals arrivalFeed // what comes, and the connections
	sessions *sessions
	sent     int64 // requests
	underWay int
	begins   bool // what is next is a session that begins
}

var _ feed = (*sessionFeed)(nil)

func (s *sessions) feed(of *scheduler) feed {
	f := &sessionFeed{
		userFeed: userFeed{schedule: s, sched: of},
		sessions: s,
		arrivals: arrivalFeed{
			arrivals: s.all, sched: of, n: of.part, at: s.all.dueTimes.Due(of.part), places: newOwnConnections(of, s.all),
			room: newRoom(of.x.step.WarmUp), backlog: of.x.backlogs.add(of),
		},
	}
	f.arrivals.carried = func() int { return f.underWay }
	f.draws = pace.NewDraws(of.x.runner.config.Seed, ^of.x.step.Index)
	return f
}

func (f *sessionFeed) next() (time.Duration, bool) {
	due, ok := f.userFeed.next()
	f.begins = false
	if at := f.arrivals.at; !ok || at < due {
		if at, free := f.arrivals.next(); free {
			f.begins = true
			return at, true
		}
	}
	return due, ok
}

func (f *sessionFeed) take() *connSlot {
	var c *connSlot
	if f.begins {
		c = f.begin()
	} else {
		c = f.userFeed.take()
	}
	c.hit.number = f.sched.part + f.sent*f.sched.parts
	f.sent++
	return c
}

// begin takes a connection for the session that comes next.
func (f *sessionFeed) begin() *connSlot {
	f.underWay++
	c := f.arrivals.take()
	for len(f.states) <= c.index {
		f.states = append(f.states, userState{})
	}
	u, of, n := &f.states[c.index], f.sched.x, c.hit.number
	session := f.sessions.all.share.Number(n)
	if u.walk == nil {
		u.walk = &walk{Walk: of.source.NewWalk(session, n, 1)}
	}
	u.walk.Begin(session, n)
	u.walk.item, u.walk.waited = of.source.RequestOf(of.source.Position(session), 0), false
	u.conn, u.k, u.free, u.idealFree = c, 0, c.hit.free, c.hit.idealSent
	c.hit.walk, c.hit.begins = u.walk, true
	return c
}

func (f *sessionFeed) render(c *connSlot, b *source.Buffer) {
	x, all := f.sched.x, f.sessions.all
	c.hit.request = c.hit.walk.Render(b, source.Vars{
		User: c.hit.walk.User(), Seq: all.share.Number(c.hit.number), Worker: x.runner.config.Worker, Step: x.step.Index,
		Redirect: c.hit.redirect,
	})
}

func (f *sessionFeed) ended(c *connSlot, res result) {
	u, lag := &f.states[c.index], c.hit.lag(res)
	u.k++
	free := f.goOn(c.index, res.received+res.lingered, lag, res)
	if u.walk.Items() > 0 {
		f.leave(c, res)
		return
	}
	if res.outcome == measure.Success {
		f.arrivals.keep()
	}
	f.enqueue(c.index, free, lag)
}

// keep notes that a session goes on after a response: it is not the target any more that keeps its
// place from those that wait for one.
func (f *arrivalFeed) keep() {
	f.room.kept = true
	f.backlog.first.Store(noHit)
}

// leave ends a session with its last request.
func (f *sessionFeed) leave(c *connSlot, res result) {
	f.underWay--
	held := res.outcome == measure.Timeout && !res.excused()
	f.arrivals.room.leave(instant{res.received - res.unread, c.hit.idealDone(res)}, f.underWay, held)
	f.arrivals.places.put(c)
}

// dropped leaves a session under way whose later request could not be sent.
func (f *sessionFeed) dropped(c *connSlot) {
	if !c.hit.begins {
		f.schedule.dropped(&c.hit)
		return
	}
	f.underWay--
	f.arrivals.dropped(c)
}

// stop forgets what waits. Later requests that were due are missed.
func (f *sessionFeed) stop() {
	due, end := make([]int64, len(f.sessions.missed)), f.sched.x.windowEnd()
	for _, q := range f.queue {
		if q.due >= 0 && q.due < end {
			f.states[q.user].walk.CountAhead(1, due)
		}
	}
	for i, n := range due {
		f.sessions.missed[i].Add(n)
	}
	f.queue, f.stopped = f.queue[:0], true
	f.arrivals.stop()
}
