package http2

import (
	"cmp"
	"slices"

	"golang.org/x/net/http2/hpack"

	"github.com/loadtest-dev/loadtest-operator/loadworker/failure"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
)

// Mux is the client side of one connection, without I/O: it turns requests into bytes to
// write, and bytes that were read into responses. What uses it writes Output after each
// call.
type Mux struct {
	origin *Origin

	out     []byte // to be written
	replies int    // answers in out to frames of which the server may send any number
	idle    int    // frames since the last that was of use
	failed  bool

	streams []*Stream // in flight, by ascending id
	near    int       // where the last one that was looked for is, or was
	queue   []*Stream // that wait until there may be more streams
	next    uint32    // the id of the next stream
	blocked int       // streams whose body is not sent whole
	reads   []*Stream // streams of events of which some was read

	peer   settings
	table  table
	window int64 // bytes of bodies that may be sent
	credit credit
	goAway bool // the server takes no more streams
	code   code // why
	last   uint32
	lost   cancelled

	reader
	headers
}

// Origin is what the requests of a connection have in common.
type Origin struct {
	scheme byte // encoded
	agent  bool // requests have it
	fields [commons]commonField
	size   uint32 // of the fields in a table
}

// NewOrigin returns the origin of a scheme and an authority. agent is the value of
// User-Agent.
func NewOrigin(scheme, authority, agent string) *Origin {
	o := &Origin{scheme: staticHTTP, agent: agent != ""}
	if scheme == "https" {
		o.scheme = staticHTTPS
	}
	for f, field := range [commons]hpack.HeaderField{
		authorityField:   {Name: ":authority", Value: authority},
		agentField:       {Name: "user-agent", Value: agent},
		teField:          {Name: "te", Value: "trailers"},
		contentTypeField: {Name: "content-type", Value: "application/grpc"},
	} {
		o.fields[f].literal = appendField(nil, 0, field.Name, []byte(field.Value))
		o.fields[f].adding = appendField(nil, addingField, field.Name, []byte(field.Value))
		o.size += field.Size()
	}
	return o
}

const (
	// firstLimit is how many streams there may be before the server has said its limit:
	// no server is advised to have a lower one (RFC 9113, 6.5.2).
	firstLimit = 100
	// maxID is the last number that a stream can have.
	maxID = 1<<31 - 1
	// lateFrames are those of no use that an honest server may have sent on a stream that was
	// ended here: a header and trailers.
	lateFrames = 2
	// flood is how many frames of no use may come one after another, and how many that
	// must be answered may wait for the answer to be written.
	flood = 10_000
)

// NewMux returns a Mux. The connection's preface is to be written.
func NewMux(o *Origin) *Mux {
	m := &Mux{origin: o, next: 1, last: maxID, window: firstWindow, peer: firstSettings}
	m.credit = credit{granted: wideWindow}
	m.table.limit = tableSize
	m.decoder = hpack.NewDecoder(tableSize, m.field)
	m.decoder.SetMaxStringLength(maxField)
	m.out = appendPreface(m.out)
	return m
}

// Settled reports whether the server has sent its settings.
func (m *Mux) Settled() bool { return m.heard }

// owner is what sends requests.
type owner interface {
	// ended is called once for each of them: when its response is whole, or with why it
	// has failed. It may send another.
	ended(st *Stream, err error)
	// came is called when some of a stream of events was read, once for each Feed, and before ended.
	came(st *Stream)
}

// Output is what is to be written. It is valid until the next call.
func (m *Mux) Output() []byte { return m.out }

// Wrote says that it was handed over; sent, that the server has been sent all of it.
func (m *Mux) Wrote(sent bool) {
	m.out = m.out[:0]
	if sent {
		m.replies = 0
	}
}

// Lend gives a Mux that has nothing to write the memory for it, and Reclaim takes that back
// once it was written: there are thousands of connections. Reclaim returns nil before.
func (m *Mux) Lend(b []byte) {
	if len(m.out) == 0 {
		m.out = b[:0]
	}
}

// Reclaim takes back what Lend gave.
func (m *Mux) Reclaim() (b []byte) {
	if len(m.out) == 0 {
		b, m.out = m.out, nil
	}
	return b
}

// InFlight is how many requests have no outcome yet.
func (m *Mux) InFlight() int { return len(m.streams) + len(m.queue) }

// Usable reports whether it takes requests: it does not after a GOAWAY, an error, or when
// the numbers of streams are used up.
func (m *Mux) Usable() bool { return !m.goAway && !m.failed && m.next <= maxID }

// Close has it take no more requests. Those in flight go on.
func (m *Mux) Close() { m.failed = true }

// Room is how many requests may be sent now, as the server limits them. More would wait.
func (m *Mux) Room() int {
	if !m.Usable() {
		return 0
	}
	return max(0, int(min(m.peer.streams, (maxID-m.next)/2+1))-m.InFlight())
}

// Send sends a request, or has it wait until there is room. The Mux must be usable.
func (m *Mux) Send(st *Stream, r *transport.Request, o owner) {
	st.begin(r)
	st.owner = o
	if len(m.queue) > 0 || len(m.streams) >= int(m.peer.streams) {
		st.waiting = appendBlock(nil, m.origin, nil, r)
		st.body = slices.Clone(r.Body)
		m.queue = append(m.queue, st)
		return
	}
	m.open(st)
	m.appendRequest(st, r)
}

// open gives a stream its number.
func (m *Mux) open(st *Stream) {
	st.id, st.window = m.next, m.peer.window
	st.credit = credit{granted: wideWindow}
	m.next += 2
	m.streams = append(m.streams, st)
}

// sendQueue sends requests that waited, as far as there is room.
func (m *Mux) sendQueue() {
	for len(m.queue) > 0 && len(m.streams) < int(m.peer.streams) && m.Usable() {
		st := m.queue[0]
		m.queue = slices.Delete(m.queue, 0, 1)
		m.open(st)
		m.appendHeaders(st.id, st.waiting, len(st.body) == 0)
		st.waiting = nil
		if len(st.body) > 0 {
			m.blocked++
			m.sendBody(st)
		}
	}
}

// Cancel ends a request without an outcome. It may have been processed.
func (m *Mux) Cancel(st *Stream) {
	st.kept.Free()
	m.Leave(st)
}

// Leave ends a request of whose response no more is needed, and keeps what came of it.
func (m *Mux) Leave(st *Stream) {
	if i := slices.Index(m.queue, st); i >= 0 {
		m.queue = slices.Delete(m.queue, i, i+1)
		return
	}
	if m.remove(st) {
		m.reset(st.id, cancel)
		m.sendQueue()
	}
}

// reset tells the server that a stream has ended here.
func (m *Mux) reset(id uint32, c code) {
	m.lost.add(id)
	m.idle -= lateFrames
	m.reply(frameReset, id, uint32(c))
}

// find returns the stream of a number, if it is in flight.
func (m *Mux) find(id uint32) (*Stream, bool) {
	i, ok := m.place(id)
	if !ok {
		return nil, false
	}
	return m.streams[i], true
}

// place is where the stream of a number is among those in flight. Frames of a response come
// together as a rule, and responses in the order of their requests: both need no search.
func (m *Mux) place(id uint32) (i int, ok bool) {
	if m.near < len(m.streams) && m.streams[m.near].id == id {
		return m.near, true
	}
	if len(m.streams) > 0 && m.streams[0].id == id {
		m.near = 0
		return 0, true
	}
	i, ok = slices.BinarySearchFunc(m.streams, id, func(st *Stream, id uint32) int { return cmp.Compare(st.id, id) })
	m.near = i
	return i, ok
}

// remove takes a stream out of those in flight; false: it is none of them.
func (m *Mux) remove(st *Stream) bool {
	i, ok := m.place(st.id)
	if !ok || m.streams[i] != st {
		return false
	}
	m.streams = slices.Delete(m.streams, i, i+1)
	if len(st.body) > 0 {
		st.body = nil
		m.blocked--
	}
	return true
}

// end ends a request with its outcome.
func (m *Mux) end(st *Stream, err error) {
	if !m.remove(st) {
		return
	}
	m.idle = 0 // there are no more of these frames than of requests
	m.sendQueue()
	m.outcome(st, err)
}

// outcome passes the outcome of a request on.
func (m *Mux) outcome(st *Stream, err error) {
	if st.events != nil {
		if err == nil {
			st.events.End()
		}
		st.owner.came(st)
		if st.events.Broken(err) {
			err = nil
		}
	}
	if err != nil {
		st.kept.Free()
	}
	st.owner.ended(st, err)
}

// violate ends a stream whose response is not in RFC 9113.
func (m *Mux) violate(st *Stream, v *violation) {
	m.reset(st.id, v.code)
	m.end(st, v)
}

// abandon ends a stream whose response is of no use.
func (m *Mux) abandon(st *Stream, err error) {
	m.reset(st.id, cancel)
	m.end(st, err)
}

// End ends all requests, because the connection was lost: by an error, or closed by the
// server if there is none.
func (m *Mux) End(err error) {
	m.failed = true
	if err == nil {
		err = closedBy(m.goAway, m.code)
	}
	m.endAbove(0, err)
	for len(m.queue) > 0 {
		st := m.queue[0]
		m.queue = slices.Delete(m.queue, 0, 1)
		st.owner.ended(st, err)
	}
}

// refuse ends the requests that the server has not processed.
func (m *Mux) refuse() {
	m.endAbove(m.last, failure.ErrNotProcessed)
	for len(m.queue) > 0 {
		st := m.queue[0]
		m.queue = slices.Delete(m.queue, 0, 1)
		st.owner.ended(st, failure.ErrNotProcessed)
	}
}

// endAbove ends the streams above a number.
func (m *Mux) endAbove(id uint32, err error) {
	for n := len(m.streams); n > 0 && m.streams[n-1].id > id; n = len(m.streams) {
		st := m.streams[n-1]
		m.lost.add(st.id)
		m.remove(st)
		m.outcome(st, err)
	}
}
