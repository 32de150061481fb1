package world

import (
	"slices"
	"time"

	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/instant"
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
	merged    *exchange.Report
	fresh     bool
}

// seat is what is known of a worker, connected or not.
type seat struct {
	session  *Worker // nil: none
	job      int     // whose pod it is
	ready    bool
	refuses  [2]string
	answers  int32
	seen     time.Time
	begun    int32
	snapshot map[int32]*snapshot
	round    int32 // in which numbers were read
	reading  exchange.Reading
}

// isFinal says whether the last snapshot of a step is there.
func (s *seat) isFinal(step int32) bool { return s.snapshot[step] != nil && s.snapshot[step].final }

// direct replaces the directive. Workers that waited for the first are noticed.
func (o *operator) direct(d exchange.Directive) {
	first := o.since.IsZero()
	if first {
		o.since, o.from = o.now(), max(d.Acknowledged, d.ActiveStep()+1)
	}
	if step := d.ActiveStep(); step != o.directive.ActiveStep() && slices.ContainsFunc(o.seats, func(s seat) bool { return s.begun > step }) {
		o.from = max(o.from, step+1)
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
	o.coordinator = coordinator{seats: make([]seat, len(o.seats))}
}

// attach gives a worker a session.
func (o *operator) attach(x *Worker) {
	s := &o.seats[x.number]
	if s.job != x.job {
		*s = seat{job: x.job}
	}
	s.session, s.seen = x, o.now()
	o.notify()
}

// detach ends a worker's session.
func (o *operator) detach(x *Worker) {
	if s := &o.seats[x.number]; s.session == x {
		s.session = nil
		o.notify()
	}
}

// isReady is a worker's word about itself.
func (o *operator) isReady(x *Worker, ready bool, refuses [2]string) {
	s := &o.seats[x.number]
	s.seen = o.now()
	if s.ready != ready || s.refuses != refuses {
		s.ready, s.refuses, s.answers = ready, refuses, x.answers
		o.notify()
	}
}

// takes stores what a worker measured, once the directive has reached the step.
func (o *operator) takes(x *Worker, step int32, m *snapshot) {
	s := &o.seats[x.number]
	s.seen = o.now()
	news := s.begun <= step
	s.begun = max(s.begun, step+1)
	if news && !o.since.IsZero() && !o.directive.HasReached(step) {
		o.notify()
	}
	if o.since.IsZero() || !o.directive.HasReached(step) || step < o.directive.Acknowledged || s.isFinal(step) {
		return
	}
	if s.snapshot == nil {
		s.snapshot = map[int32]*snapshot{}
	}
	stored := *m
	stored.at = o.now()
	s.snapshot[step] = &stored
	o.fresh = false
	if m.final && o.allFinal(step) {
		o.notify()
	} else {
		o.notifySoon()
	}
}

// takeReading stores what a worker read in the round that it is directed to read.
func (o *operator) takeReading(x *Worker, round int32, reading exchange.Reading) {
	if !o.since.IsZero() && o.directive.AuditRound(int32(x.number)) == round {
		s := &o.seats[x.number]
		s.round, s.reading, s.seen = round, reading, o.now()
		o.notifySoon()
	}
}

func (o *operator) allFinal(step int32) bool {
	for n := range o.seats {
		if !o.seats[n].isFinal(step) {
			return false
		}
	}
	return true
}

// notify asks for a pass now, unless the run is not known yet.
func (o *operator) notify() {
	if o.since.IsZero() || o.world.instant {
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

// notifySoon asks for a pass within a second, together with whatever else changes.
func (o *operator) notifySoon() {
	if o.world.instant {
		return
	}
	wait := time.Second - o.world.now.Sub(o.notified)
	switch {
	case wait <= 0:
		o.notify()
	case !o.timer:
		o.timer = true
		o.world.After(wait, func() {
			o.timer = false
			o.notify()
		})
	}
}

// observe is a worker as its session shows it.
func (c *coordinator) observe(number int, targets int32, audits int) exchange.Worker {
	s := &c.seats[number]
	w := exchange.Worker{Connected: s.session != nil, Ready: s.ready, Reason: s.refuses[0], Message: s.refuses[1], LastSeen: s.seen, Begun: s.begun, Answers: s.answers, Targets: targets}
	if round := c.directive.AuditRound(int32(number)); round != 0 && round == s.round {
		w.Readings = slices.Repeat([]exchange.Reading{s.reading}, audits)
	}
	if step := c.directive.ActiveStep(); step != exchange.NoStep {
		if m := s.snapshot[step]; m != nil {
			w.Reported, w.Final, w.Cut, w.Due, w.Sent = true, m.final, m.cut, m.due, m.sent
		}
	}
	return w
}

// report is the merge of what the workers measured in the active step of a run with so many
// requests and journeys.
func (c *coordinator) report(requests, journeys int) *exchange.Report {
	if c.fresh {
		return c.merged
	}
	c.merged, c.fresh = nil, true
	step := c.directive.ActiveStep()
	if step == exchange.NoStep {
		return nil
	}
	r := &exchange.Report{Step: step}
	for n := range c.seats {
		m := c.seats[n].snapshot[step]
		if m == nil {
			continue
		}
		if r.Reporting == 0 || m.window < r.ShortestWindow {
			r.ShortestWindow = m.window
		}
		r.MeanWindow += m.window
		r.Reporting++
		if m.final {
			r.Final++
		}
		r.Until = instant.Later(r.Until, m.at)
		if r.Merged == nil {
			r.Merged = measure.NewMeasurement(requests)
			r.Merged.Journeys = measure.NewJourneys(journeys)
		}
		if err := r.Merged.Merge(m.measurement(requests, journeys)); err != nil {
			panic(err)
		}
	}
	if r.Reporting == 0 {
		return nil
	}
	r.MeanWindow /= time.Duration(r.Reporting)
	c.merged = r
	return r
}
