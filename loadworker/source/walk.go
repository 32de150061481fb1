package source

import (
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/cookie"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/pace"
)

// Walk is a user's way through the mix, where that has journeys: its next request depends
// on the responses before it. One goroutine at a time may use it.
type Walk struct {
	source   *Source
	place    place
	number   int64 // of the user, among those of the worker
	users    int64 // of the worker
	thoughts int64 // waits that were drawn

	values [][]byte     // that were captured, by slot
	jars   []cookie.Jar // of each target
	target int          // of the request on its way
	path   []byte       // likewise
}

// place is a place in the mix.
type place struct {
	user    int64 // over all workers
	item    int64 // of the mix's cycle, counted from the user's first
	journey *journey
	turn    int // of the journey
	request int
}

// NewWalk is the way of a user, who has a number over all workers, and another among the
// users of the worker.
func (s *Source) NewWalk(user, number, users int64) Walk {
	w := Walk{source: s, number: number, users: users, jars: make([]cookie.Jar, s.targets)}
	w.place = place{user: user}
	w.place.enter(s)
	return w
}

// enter begins the item of the mix at which the place is.
func (p *place) enter(s *Source) {
	p.journey, p.turn, p.request = nil, 0, s.RequestOf(p.user, p.item)
	if n := p.request - len(s.requests); n >= 0 {
		p.journey = &s.journeys[n]
		p.request = p.journey.turns[0].request
	}
}

// next goes to the next request. A journey goes on if the last request was answered as
// expected; over says that it ends.
func (p *place) next(s *Source, expected bool) (over bool) {
	if p.journey != nil && expected && p.turn+1 < len(p.journey.turns) {
		p.turn++
		p.request = p.journey.turns[p.turn].request
		return false
	}
	over = p.journey != nil
	p.item++
	p.enter(s)
	return over
}

// Journey is the index of the journey that the next request is of; ok is false if it is of
// none.
func (w *Walk) Journey() (index int, ok bool) {
	if w.place.journey == nil {
		return 0, false
	}
	return w.place.journey.index, true
}

// Step is the index of the journey's step that the next request is of; 0 if it is of none.
func (w *Walk) Step() int {
	if w.place.journey == nil {
		return 0
	}
	return w.place.journey.turns[w.place.turn].step
}

// IsFirst says whether the next request is the first of a journey.
func (w *Walk) IsFirst() bool { return w.place.journey != nil && w.place.turn == 0 }

// Limit is how long the journey may take; 0: it has no limit.
func (w *Walk) Limit() time.Duration {
	if w.place.journey == nil {
		return 0
	}
	return w.place.journey.limit
}

// Render renders the next request into a buffer, and returns its index.
func (w *Walk) Render(b *Buffer, v Vars) int {
	v.Captured = w.values
	v.Order = Order{N: w.place.item, Stream: w.number, Streams: w.users}
	j := w.place.journey
	if j != nil {
		v.own, v.ownRow = j.user, w.number
	}
	w.source.Render(b, w.place.request, v)
	if j == nil {
		return w.place.request
	}
	b.Request.KeepCookies = true
	t := &j.turns[w.place.turn]
	if t.readsBody {
		b.Request.Keep = maxBody
	}
	if len(t.fields) > 0 {
		b.Request.KeepFields = t.fields
	}
	w.path, w.target = append(w.path[:0], b.Request.Path...), b.Request.Target
	w.addCookies(b)
	return w.place.request
}

// addCookies adds the cookies that are for the request, unless it has a header of its own
// for them.
func (w *Walk) addCookies(b *Buffer) {
	r := &w.source.requests[w.place.request]
	jar := &w.jars[w.target]
	if jar.IsEmpty() {
		return
	}
	for i := range b.Request.Headers {
		if b.Request.Headers[i].Name == "Cookie" {
			return
		}
	}
	start := len(b.text)
	secure := r.secure
	if w.target != r.target {
		secure = w.source.origins[w.target].isSecure()
	}
	b.text = jar.Append(b.text, w.path, secure, time.Now())
	if value := b.text[start:len(b.text):len(b.text)]; len(value) > 0 {
		b.Request.Headers = append(b.Request.Headers, transport.Header{Name: "Cookie", Value: value})
	}
}

// TakeCookies takes those of a response to the request, which may be a redirect, if a journey is
// under way.
func (w *Walk) TakeCookies(r *transport.Response) {
	if len(r.SetCookies) > 0 && w.place.journey != nil {
		w.jars[w.target].Set(r.SetCookies, w.path, time.Now())
	}
}

// Answer takes what is to be kept of the expected response to the request. Its error is
// why the body is not as it should be.
func (w *Walk) Answer(r *transport.Response) error {
	j := w.place.journey
	if j == nil {
		return nil
	}
	w.TakeCookies(r)
	request := &w.source.requests[w.place.request]
	if captures := j.turns[w.place.turn].captures; len(captures) > 0 {
		answer := *r // so that no response escapes to the heap of which nothing is captured
		return w.capture(captures, &captureInput{request: request, response: &answer})
	}
	return nil
}

// Next goes to the request after the one that was answered, and draws the waits that come
// before it. over says that a journey has ended: it is completed if the response was
// expected, else it has failed.
func (w *Walk) Next(expected bool, draws pace.Draws) (wait time.Duration, over bool) {
	j := w.place.journey
	if over = w.place.next(w.source, expected); over {
		for i := range w.jars {
			w.jars[i].Clear()
		}
		if expected {
			wait = w.think(j.after, draws)
		}
	}
	return wait + w.First(draws), over
}

// First draws the waits before the request at which the walk is.
func (w *Walk) First(draws pace.Draws) time.Duration {
	if w.place.journey == nil {
		return 0
	}
	return w.think(w.place.journey.turns[w.place.turn].waits, draws)
}

func (w *Walk) think(waits []pace.Think, draws pace.Draws) (sum time.Duration) {
	for _, t := range waits {
		sum += t.Draw(draws, w.place.user, w.thoughts)
		w.thoughts++
	}
	return sum
}

// CountAhead adds the next n requests to the counts, by request, as they come if each is
// answered as expected.
func (w *Walk) CountAhead(n int64, counts []int64) {
	p := w.place
	for range n {
		counts[p.request]++
		p.next(w.source, true)
	}
}
