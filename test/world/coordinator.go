package model

import (
	"time"

	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// coordinator is the part of an operator that has the sessions.
type coordinator struct {
	since     time.Time
	from      int32
	directive exchange.Directive
	seats     []seat
	notified  time.Time
	timer     bool
	latency   func(step int32) time.Duration // of every response
	merged    *exchange.Report
	fresh     bool
}

// seat is what is known of a worker, connected or not.
type seat struct {
	session  *worker // nil: none
	job      int     // whose pod it is
	ready    bool
	refuses  [2]string
	seen     time.Time
	begun    int32
	snapshot map[int32]snapshot
	round    int32 // in which numbers were read
	reading  exchange.Reading
}

// snapshot is what a worker measured of a step so far.
type snapshot struct {
	// sent is how many requests were due and sent, late how many of them lateBy later
	// than they were due.
	sent, late int64
	lateBy     time.Duration
	window     time.Duration
	began      time.Time // by the coordinator's clock
	final, cut bool
	at         time.Time
}

// direct replaces the directive. Workers that waited for the first are noticed.
func (o *operator) direct(d exchange.Directive) {
	first := o.since.IsZero()
	if first {
		o.since, o.from = o.now(), max(d.Acknowledged, d.ActiveStep()+1)
	}
	if d.ActiveStep() != o.directive.ActiveStep() {
		o.fresh = false
	}
	o.directive = d
	waited := false
	for n := range o.seats {
		s := &o.seats[n]
		for step := range s.snapshot {
			if step < d.Acknowledged {
				delete(s.snapshot, step)
			}
		}
		if x := s.session; x != nil {
			waited = true
			x.receives(o)
		}
	}
	if first && waited {
		o.notify()
	}
}

// forget drops all that is known of the run and ends its workers.
func (o *operator) forget() {
	d := o.directive
	d.Finish = true
	o.direct(d)
	o.coordinator = coordinator{seats: make([]seat, len(o.seats)), latency: o.latency}
}

// attach gives a worker a session.
func (o *operator) attach(x *worker) {
	s := &o.seats[x.number]
	if s.job != x.job {
		*s = seat{job: x.job}
	}
	s.session, s.seen = x, o.now()
	o.notify()
}

// detach ends a worker's session.
func (o *operator) detach(x *worker) {
	if s := &o.seats[x.number]; s.session == x {
		s.session = nil
		o.notify()
	}
}

// isReady is a worker's word about itself.
func (o *operator) isReady(x *worker, ready bool, refuses [2]string) {
	s := &o.seats[x.number]
	s.seen = o.now()
	if s.ready != ready || s.refuses != refuses {
		s.ready, s.refuses = ready, refuses
		o.notify()
	}
}

// takes stores what a worker measured, once the directive has reached the step.
func (o *operator) takes(x *worker, step int32, m snapshot) {
	s := &o.seats[x.number]
	s.seen = o.now()
	s.begun = max(s.begun, step+1)
	if !o.since.IsZero() && !o.directive.HasReached(step) {
		o.notifySoon()
	}
	if o.since.IsZero() || !o.directive.HasReached(step) || step < o.directive.Acknowledged || s.snapshot[step].final {
		return
	}
	if s.snapshot == nil {
		s.snapshot = map[int32]snapshot{}
	}
	m.at = o.now()
	s.snapshot[step] = m
	o.fresh = false
	if m.final && o.allFinal(step) {
		o.notify()
	} else {
		o.notifySoon()
	}
}

// takeReading stores what a worker read in the round that it is directed to read.
func (o *operator) takeReading(x *worker, round int32, reading exchange.Reading) {
	if !o.since.IsZero() && o.directive.AuditRound(int32(x.number)) == round {
		s := &o.seats[x.number]
		s.round, s.reading, s.seen = round, reading, o.now()
		o.notifySoon()
	}
}

func (o *operator) allFinal(step int32) bool {
	for n := range o.seats {
		if !o.seats[n].snapshot[step].final {
			return false
		}
	}
	return true
}

// notify has a pass come now, unless the run is not known yet.
func (o *operator) notify() {
	if o.since.IsZero() {
		return
	}
	o.notified = o.world.now
	if o.world.dropNotices > 0 {
		o.world.dropNotices--
		o.world.noticeLost = true
		o.world.say("a notification is lost")
		return
	}
	o.enqueue()
}

// notifySoon has a pass come within a second, together with whatever else changes.
func (o *operator) notifySoon() {
	wait := time.Second - o.world.now.Sub(o.notified)
	switch {
	case wait <= 0:
		o.notify()
	case !o.timer:
		o.timer = true
		o.world.after(wait, func() {
			o.timer = false
			o.notify()
		})
	}
}

// observe is a worker as its session shows it.
func (c *coordinator) observe(number int) exchange.Worker {
	s := &c.seats[number]
	w := exchange.Worker{Connected: s.session != nil, Ready: s.ready, Reason: s.refuses[0], Message: s.refuses[1], LastSeen: s.seen, Begun: s.begun, Targets: 2}
	if round := c.directive.AuditRound(int32(number)); round != 0 && round == s.round {
		w.Readings = []exchange.Reading{s.reading}
	}
	if step := c.directive.ActiveStep(); step != exchange.NoStep {
		m, ok := s.snapshot[step]
		w.Reported, w.Final, w.Cut = ok, m.final, m.cut
		if ok {
			w.Due, w.Sent = m.sent, m.sent
		}
	}
	return w
}

// report is the merge of what the workers measured in the active step.
func (c *coordinator) report() *exchange.Report {
	if c.fresh {
		return c.merged
	}
	c.merged, c.fresh = nil, true
	step := c.directive.ActiveStep()
	if step == exchange.NoStep {
		return nil
	}
	r := &exchange.Report{Step: step}
	var all []snapshot
	for n := range c.seats {
		m, ok := c.seats[n].snapshot[step]
		if !ok {
			continue
		}
		all = append(all, m)
		if r.Reporting == 0 || m.window < r.ShortestWindow {
			r.ShortestWindow = m.window
		}
		r.MeanWindow += m.window
		r.Reporting++
		if m.final {
			r.Final++
		}
		if m.at.After(r.Until) {
			r.Until = m.at
		}
	}
	if r.Reporting == 0 {
		return nil
	}
	r.MeanWindow /= time.Duration(r.Reporting)
	r.Merged = merge(all, c.latency(step))
	c.merged = r
	return r
}

// merge is the measurement of several workers, all of whose responses took as long.
func merge(all []snapshot, latency time.Duration) *measure.Measurement {
	m := measure.NewMeasurement(1)
	r := &m.Requests[0]
	for _, s := range all {
		m.Due += s.sent
		m.Window = max(m.Window, s.window)
		r.Late += s.late
		for k := range s.sent {
			late := time.Duration(0)
			if k < s.late {
				late = s.lateBy
			}
			r.Response.Record(late + latency)
			r.Service.Record(latency)
			m.Lateness.Record(late)
		}
		switch {
		case s.began.IsZero():
		case m.FirstStart.IsZero():
			m.FirstStart, m.LastStart = s.began, s.began
		case s.began.Before(m.FirstStart):
			m.FirstStart = s.began
		case s.began.After(m.LastStart):
			m.LastStart = s.began
		}
	}
	r.Sent, r.Expected, r.CompletedInWindow, r.ExpectedInWindow = m.Due, m.Due, m.Due, m.Due
	r.Outcomes[measure.Success] = m.Due
	return m
}
