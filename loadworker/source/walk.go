package source

import (
	"fmt"
	"time"

	"github.com/loadtest-dev/loadtest-operator/expression"
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
	visits   bool  // it is that of a session, which carries out one item

	Values
	tries   int    // of a repeat that were sent
	moved   Move   // whose memory is kept
	leftOut []int  // steps before the first request of the journey
	target  int    // of the request on its way
	path    []byte // likewise
}

// Values are what a user has of responses. The zero value belongs to a user who has had no response yet.
type Values struct {
	values [][]byte          // that were captured, by slot
	kinds  []expression.Kind // of them; None: none was captured since the user has been without values
	status int               // of the last response of a journey
	jars   []cookie.Jar      // of each target
}

// place is a place in the mix.
type place struct {
	user    int64 // over all workers
	at      int64 // where in the mix the user begins
	item    int64 // of the mix's cycle, counted from the user's first
	journey *journey
	first   int // turn of the journey that is carried out
	turn    int // of the journey
	request int
}

// NewWalk is the way of a user, who has a number over all workers, and another among the
// users of the worker.
func (s *Source) NewWalk(user, number, users int64) Walk {
	w := Walk{source: s, number: number, users: users}
	w.jars = make([]cookie.Jar, s.targets)
	w.place = place{user: user, at: user}
	w.place.enter(s)
	return w
}

// Keep has the walk begin with the values that the user had at the end of another walk, of the same source,
// which must not go on; the zero value: there was none.
func (w *Walk) Keep(v Values) {
	if v.jars != nil {
		w.Values = v
	}
}

// Begin starts the walk of a session, without any value of the one before. It keeps the memory of that one.
func (w *Walk) Begin(user, number int64) {
	w.forget()
	w.visits = true
	w.number, w.thoughts, w.place = number, 0, place{user: user, at: w.source.Position(user)}
	w.place.enter(w.source)
}

// forget forgets what a journey has given the user.
func (w *Walk) forget() {
	for i := range w.jars {
		w.jars[i].Clear()
	}
	clear(w.kinds)
	w.status, w.tries = 0, 0
}

// User is the number of the user over all workers.
func (w *Walk) User() int64 { return w.place.user }

// Items is how many items of the mix, journeys or single requests, the user has carried out.
func (w *Walk) Items() int64 { return w.place.item }

// enter begins the item of the mix at which the place is.
func (p *place) enter(s *Source) {
	p.journey, p.first, p.turn, p.request = nil, 0, 0, s.RequestOf(p.at, p.item)
	if n := p.request - len(s.requests); n >= 0 {
		p.journey = &s.journeys[n]
		p.request = p.journey.turns[0].request
	}
}

// goTo goes to a turn of the journey.
func (p *place) goTo(turn int) {
	p.turn, p.request = turn, p.journey.turns[turn].request
}

// leave goes to the next item of the mix. over says that a journey ends.
func (p *place) leave(s *Source) (over bool) {
	over = p.journey != nil
	p.item++
	p.enter(s)
	return over
}

// next goes to the next request if each is answered as expected, each condition of a step holds, and
// each repeat sends one request: which do is not known before the responses are.
func (p *place) next(s *Source) {
	if p.journey != nil && p.turn+1 < len(p.journey.turns) {
		p.goTo(p.turn + 1)
		return
	}
	if p.leave(s); p.journey != nil && p.journey.keeps {
		p.goTo(p.journey.lead) // a user who has carried out a journey has what the steps before give
	}
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
func (w *Walk) IsFirst() bool {
	return w.place.journey != nil && w.place.turn == w.place.first && w.tries == 0
}

// LeftOut are the steps that were left out before the first request of the journey. They are valid until
// the next journey.
func (w *Walk) LeftOut() []int { return w.leftOut }

// Limit is how long the journey may take; 0: it has no limit.
func (w *Walk) Limit() time.Duration {
	if w.place.journey == nil {
		return 0
	}
	return w.place.journey.limit
}

// Render renders the next request into a buffer, and returns its index.
func (w *Walk) Render(b *Buffer, v Vars) int {
	v.Captured, v.Order, v.walks = w.values, w.order(), true
	j := w.place.journey
	if j != nil && j.user > 0 {
		v.own, v.ownRow = j.user, w.ownRow()
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

// order is where the walk is, by which rows are taken in turn. A session is one of those that come to the worker, a user a
// stream of its own.
func (w *Walk) order() Order {
	if n := w.source.workers; w.visits {
		return Order{Start: max(0, w.place.user-w.number*n), By: n, N: w.number, Streams: 1}
	}
	return Order{Start: w.place.at, By: 1, N: w.place.item, Stream: w.number, Streams: w.users}
}

// ownRow is the number of the row that the user of the journey has. Of sessions, those that have one take them in turn.
func (w *Walk) ownRow() int64 {
	if !w.visits {
		return w.number
	}
	order := w.order()
	return order.rowNumber(w.source.counters[w.place.journey.user-1].of(order.By))
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

// Refuse takes what is to be kept of a response to the request that ends the journey: its code and its cookies.
func (w *Walk) Refuse(r *transport.Response) {
	if w.place.journey != nil {
		w.TakeCookies(r)
		w.status = r.Status
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
	w.status = r.Status
	request := &w.source.requests[w.place.request]
	if captures := j.turns[w.place.turn].captures; len(captures) > 0 {
		answer := *r // so that no response escapes to the heap of which nothing is captured
		return w.capture(captures, &captureInput{request: request, response: &answer})
	}
	return nil
}

// Move is where a walk went.
type Move struct {
	// Wait is the sum of the waits before the next request.
	Wait time.Duration
	// Over says that a journey has ended.
	Over bool
	// Failed says that it ended in a step with this index, because a request had no expected response, or, if
	// Because is not empty, for that reason: a condition did not hold, or has no result.
	Failed  bool
	Step    int
	Because string
	// LeftOut are the steps that were left out on the way. They are valid until the next move.
	LeftOut []int
}

// Next goes to the request after the one that was answered, and draws the waits that come
// before it. A journey that ends is completed, or has failed: with a response that was not expected,
// or by a condition.
func (w *Walk) Next(expected bool, draws pace.Draws) Move {
	m := &w.moved
	*m = Move{Step: w.Step(), LeftOut: m.LeftOut[:0]}
	if w.place.journey != nil {
		if m.Failed = !expected; expected && w.advance(m, draws) {
			return *m
		}
		if w.tries = 0; !w.place.journey.keeps {
			w.forget()
		}
	}
	m.Over = w.place.leave(w.source)
	m.Wait += w.First(draws)
	return *m
}

// advance goes on in the journey. false: it ends.
func (w *Walk) advance(m *Move, draws pace.Draws) bool {
	j := w.place.journey
	if again, over := w.repeats(m, &j.turns[w.place.turn]); again || over {
		return again
	}
	for next := w.place.turn + 1; next < len(j.turns); {
		t := &j.turns[next]
		if !w.wait(m, t.waits, draws) {
			return false
		}
		switch holds, err := w.holds(t.guard); {
		case err != nil:
			m.fail(t.step, "if: "+err.Error())
			return false
		case !holds:
			m.LeftOut = append(m.LeftOut, t.step)
			next += t.times
			continue
		}
		if missing := w.missing(t.needs); missing != "" {
			m.fail(t.step, "the request has ${"+missing+"}, whose step was left out")
			return false
		}
		w.place.goTo(next)
		return true
	}
	w.wait(m, j.after, draws)
	return false
}

// repeats says whether the request of a turn is sent again, and whether the journey is over by it.
func (w *Walk) repeats(m *Move, t *turn) (again, over bool) {
	if t.until == nil {
		return false, false
	}
	w.tries++
	switch holds, err := w.holds(t.until); {
	case err != nil:
		m.fail(t.step, "until: "+err.Error())
		return false, true
	case holds:
		w.tries = 0
		return false, false
	case w.tries >= t.atMost:
		m.fail(t.step, neverHeld(t.atMost))
		return false, true
	}
	m.Wait += t.every
	return true, false
}

func neverHeld(tries int) string {
	if tries == 1 {
		return "until did not hold in the only try"
	}
	return fmt.Sprintf("until never held in %d tries", tries)
}

// fail notes that a condition ends the journey in a step.
func (m *Move) fail(step int, because string) {
	m.Failed, m.Step, m.Because, m.Wait = true, step, because, 0
}

// missing is the first of the values that is not there; "": all are.
func (w *Walk) missing(needs []capturedUse) string {
	for _, u := range needs {
		if u.slot >= len(w.kinds) || w.kinds[u.slot] == expression.None {
			return u.name
		}
	}
	return ""
}

// First goes to the first request of the item at which the walk begins, past steps whose condition does not
// hold, and draws the waits before it.
func (w *Walk) First(draws pace.Draws) time.Duration {
	j := w.place.journey
	if j == nil {
		return 0
	}
	m := Move{LeftOut: w.leftOut[:0]}
	for {
		t := &j.turns[w.place.turn]
		w.wait(&m, t.waits, draws)
		// A condition before the first request has a result of all values: see checkFirst.
		if holds, err := w.holds(t.guard); holds || err != nil {
			break
		}
		m.LeftOut = append(m.LeftOut, t.step)
		w.place.goTo(w.place.turn + t.times)
	}
	w.place.first, w.leftOut = w.place.turn, m.LeftOut
	return m.Wait
}

// wait draws waits, of those whose condition holds. false: one has no result, and ends the journey.
func (w *Walk) wait(m *Move, waits []wait, draws pace.Draws) bool {
	for i := range waits {
		t := &waits[i]
		switch holds, err := w.holds(t.guard); {
		case err != nil:
			m.fail(t.step, "if: "+err.Error())
			return false
		case !holds:
			m.LeftOut = append(m.LeftOut, t.step)
		default:
			m.Wait += t.think.Draw(draws, w.place.user, w.thoughts)
			w.thoughts++
		}
	}
	return true
}

// CountAhead adds the next n requests to the counts, by request, as they come if each is
// answered as expected, and each condition holds.
func (w *Walk) CountAhead(n int64, counts []int64) {
	p := w.place
	for range n {
		counts[p.request]++
		p.next(w.source)
	}
}
