package attack

import (
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/pace"
	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// walk is a user's way through a mix that has journeys.
type walk struct {
	source.Walk
	began  time.Duration // when the first request of the journey was due
	counts bool          // a journey that counts is under way
	waited bool          // the journey has a wait before the next request
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
	}
	// No step has this index: the waits are independent of the think times of the load.
	f.draws = pace.NewDraws(x.runner.config.Seed, ^x.step.Index)
	return all
}

// began notes that a request is sent, which may begin a journey.
func (w *walk) sent(h *hit, r *recorder) {
	if !w.IsFirst() {
		return
	}
	w.began, w.counts = h.due, h.counts()
	if i, _ := w.Journey(); w.counts {
		r.journeys[i].start()
	}
}

// isBeyond says whether an instant is beyond the time limit of the journey.
func (w *walk) isBeyond(t time.Duration) bool {
	limit := w.Limit()
	return limit > 0 && t-w.began > limit
}

// goOn takes a user to its next request, which may be that of another journey, and
// returns when the user is free for it. A journey goes on after a success only: who is
// told to come back later, by a 429, has not bought anything.
func (f *userFeed) goOn(user int, free time.Duration, res result) time.Duration {
	x, u := f.sched.x, &f.states[user]
	if res.outcome == measure.Unfinished && x.cut.Load() {
		return free // nothing follows: the journey is unfinished
	}
	wait := u.walk.next(x.rec, f.draws, res.outcome == measure.Success, res.received)
	due, ok := f.schedule.dueAt(f.number(user), u.k, free+wait)
	if ok && !u.walk.IsFirst() && u.walk.isBeyond(due) {
		wait = u.walk.next(x.rec, f.draws, false, due)
	}
	u.walk.waited = wait > 0
	return free + wait
}

// next goes to the next request, and counts the journey if that is over.
func (w *walk) next(r *recorder, draws pace.Draws, expected bool, at time.Duration) time.Duration {
	i, _ := w.Journey()
	expected = expected && !w.isBeyond(at)
	wait, over := w.Next(expected, draws)
	if over && w.counts {
		r.journeys[i].end(expected, at-w.began)
		w.counts = false
	}
	return wait
}

// finish counts the journeys that the end of the step has ended.
func (f *userFeed) finish(end time.Duration) {
	for user := range f.states {
		if w := f.states[user].walk; w != nil && w.counts {
			i, _ := w.Journey()
			f.sched.x.rec.journeys[i].leave(end - w.began)
		}
	}
}

// finishFeeds keeps the feeds of users whose mix has journeys: what they did not send is
// counted from where they are.
func (x *Execution) finishFeeds(schedulers []*scheduler) {
	if x.source.Journeys() == 0 {
		return
	}
	end := min(x.elapsed(), x.windowEnd())
	for _, s := range schedulers {
		if f, ok := s.feed.(*userFeed); ok {
			f.finish(end)
			x.feeds = append(x.feeds, f)
		}
	}
}
