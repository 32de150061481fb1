package attack

import (
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/pace"
)

// walk is a user's way through a mix that has journeys.
type walk struct {
	source.Walk
	began  instant // when the first request of the journey was due
	counts bool    // a journey that counts is under way
	waited bool    // the journey has a wait before the next request
	item   int     // of the mix that a session carries out
}

// instant is an instant as measured, and as it would have been with a perfect generator.
type instant struct{ measured, ideal time.Duration }

func (i instant) since(began instant) instant {
	return instant{i.measured - began.measured, i.ideal - began.ideal}
}

// walks are those of a feed's users, nil if the mix has no journeys.
func (f *userFeed) walks() []walk {
	x := f.sched.x
	if x.source.Journeys() == 0 {
		return nil
	}
	all := make([]walk, len(f.states))
	for user := range all {
		number := f.number(user)
		all[user].Walk = x.source.NewWalk(f.users.share.Number(number), number, f.users.share.Count)
		all[user].Keep(x.runner.values[number])
	}
	// No step has this index: the waits are independent of the think times of the load.
	f.draws = pace.NewDraws(x.runner.config.Seed, ^x.step.Index)
	return all
}

// began notes that a request is sent, which may begin a journey.
func (w *walk) sent(h *hit, r *recorder) {
	if h.begins {
		r.of.sessions.begun(h)
	}
	if !w.IsFirst() {
		return
	}
	w.began, w.counts = instant{h.due, h.idealDue}, h.counts()
	if i, _ := w.Journey(); w.counts {
		r.journeys[i].start()
		r.journeys[i].leaveOut(w.LeftOut())
	}
}

// isBeyond says whether the journey exceeds its time limit when it has taken so long.
func (w *walk) isBeyond(took time.Duration) bool {
	limit := w.Limit()
	return limit > 0 && took > limit
}

// goOn takes a user to its next request, which may be that of another journey, and
// returns when the user is free for it. The generator has delayed the user by lag. A journey goes on after a success only: who is
// told to come back later, by a 429, has not bought anything.
func (f *userFeed) goOn(user int, free, lag time.Duration, res result) time.Duration {
	x, u := f.sched.x, &f.states[user]
	if res.undecided || res.cut {
		if u.walk.isBeyond(res.received - u.walk.began.measured) { // whatever comes
			u.walk.next(x.rec, f.draws, true, res.stalled, instant{res.received, res.received - lag})
		}
		return free // nothing follows: else the journey is under way
	}
	wait := u.walk.next(x.rec, f.draws, res.outcome == measure.Success, res.excused(), instant{res.received, res.received - lag})
	due, ok := f.schedule.dueAt(f.number(user), u.k, free+wait)
	if ok && !u.walk.IsFirst() && u.walk.isBeyond(due-u.walk.began.measured) {
		ideal := due
		if !f.scheduled {
			ideal -= lag
		}
		wait = u.walk.next(x.rec, f.draws, true, false, instant{due, ideal})
	}
	u.walk.waited = wait > 0
	return free + wait
}

// next goes to the next request, and counts the journey if that is over. excused says that its
// last request may have failed by the generator's doing.
func (w *walk) next(r *recorder, draws pace.Draws, expected, excused bool, at instant) time.Duration {
	i, _ := w.Journey()
	took := at.since(w.began)
	late := expected && w.isBeyond(took.measured)
	excused = excused || late && !w.isBeyond(took.ideal)
	expected = expected && !late
	m := w.Next(expected, draws)
	if !w.counts {
		return m.Wait
	}
	r.journeys[i].leaveOut(m.LeftOut)
	if !m.Over {
		return m.Wait
	}
	w.counts = false
	if m.Failed {
		r.journeys[i].fail(m.Step, excused, m.Because)
	} else {
		r.journeys[i].complete(took.measured, took.ideal)
	}
	return m.Wait
}

// finish counts the journeys that the end of the step has ended, and keeps the values of the users.
func (f *userFeed) finish(end time.Duration) {
	for user := range f.states {
		w := f.states[user].walk
		if w == nil {
			continue
		}
		if w.counts {
			// Its last response may have come after the end, and it would have waited for its next request.
			i, _ := w.Journey()
			f.sched.x.rec.journeys[i].leave(max(end, f.states[user].free) - w.began.measured)
		}
		if x := f.sched.x; x.source.KeepsValues() {
			x.runner.values[f.number(user)] = w.Values
		}
	}
}

// finishFeeds counts what users did not send. It keeps their feeds if the mix has journeys:
// of which requests these are is counted from where the users are.
func (x *Execution) finishFeeds(schedulers []*scheduler) {
	end := min(x.elapsed(), x.windowEnd())
	for _, s := range schedulers {
		if f, ok := s.feed.(*sessionFeed); ok {
			f.finish(end)
		}
		f, ok := s.feed.(*userFeed)
		if !ok {
			continue
		}
		x.unsentByGenerator += f.unsentByGenerator(end)
		if x.source.Journeys() > 0 {
			f.finish(end)
			x.feeds = append(x.feeds, f)
		}
	}
}
