package attack

import "time"

// room is whether there is a place for the next hit of arrivals, or since when there has been
// one again. A hit that waits because the target has left none would have waited with a
// perfect generator, too. For how long follows from the request that left its place to it: until
// that would have ended.
type room struct {
	since instant // there has been a place, and would have been with a perfect generator

	lacks    bool
	why      vacancy       // there was no place the last time
	most     int           // requests that were in flight then; 0: more may be
	lacking  time.Duration // since when, if it lacks
	stood    time.Duration // for how long the process had stood still by then
	left     instant       // the end of the request that left a place since then, if one has
	isLeft   bool
	answered bool // the last one that did so had not held its place for the whole timeout
	kept     bool // sessions that the target has answered keep places
}

// newRoom is that of a step with a warm-up, which is before the window.
func newRoom(warmUp time.Duration) room { return room{since: instant{-warmUp, -warmUp}} }

// ofTarget reports whether it is the target that leaves no place: a worker that has no more
// connections than it needs for a target that answers is a generator's fault, and so is one that has
// no more than the sessions between two requests.
func (r *room) ofTarget() bool { return r.why == full || !r.answered && !r.kept }

// lack notes that there is no place, with so many requests in flight, or sessions under way, some of
// which may have kept their places after a response.
func (r *room) lack(now, stood time.Duration, inFlight int, why vacancy, kept bool) {
	r.lacks, r.isLeft, r.lacking, r.stood, r.most, r.why, r.kept = true, false, now, stood, inFlight, why, kept
}

// leave notes the end of a request beside which so many are in flight. held says that it held its
// place for the whole timeout. If all places were taken, the next hit takes this one: so it is
// for each of several that ended before it was noted that there is no place.
func (r *room) leave(at instant, inFlight int, held bool) {
	if r.most == 0 || inFlight+1 < r.most {
		r.answered = false
		return
	}
	r.lacks, r.isLeft, r.left, r.answered = true, true, at, !held
}

// give notes that there is a place again, for a hit that is due at an instant, and returns since
// when. If no request left it, as when a connection was opened, the hit would have waited for
// as long with a perfect generator, but for the time for which the process stood still.
func (r *room) give(now, stood, due time.Duration) time.Duration {
	at := r.left
	if !r.isLeft {
		at.measured = max(r.lacking, now-(stood-r.stood))
		at.ideal = max(due, r.since.ideal) + max(0, at.measured-max(r.lacking, due))
		r.most = 0
	}
	if r.ofTarget() {
		r.since = at
	}
	r.lacks, r.isLeft = false, false
	return at.measured
}

// take returns since when there has been a place for a hit, with which so many requests are in
// flight.
func (r *room) take(inFlight int) instant {
	if inFlight > r.most {
		r.most = 0
	}
	return r.since
}
