package http2

import (
	"net/http"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport/event"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport/grpc"
)

// Stream is a request of a Mux and its response. It may be used again once it has ended.
type Stream struct {
	owner   owner
	id      uint32
	window  int64 // bytes of the body that may be sent
	credit  credit
	body    []byte        // of the request, as far as it was not sent
	waiting []byte        // the header block of a request that waits until there is room
	reader  *event.Reader // of the response, if it has one; nil: no response was a stream of events so far
	read    bool          // some of it was, since its owner was told of that
	response
}

// response is what has come of a response.
type response struct {
	head, keepCookies, keepMessage bool // of the request

	status    int // final; 0: it has not come
	hasLength bool
	length    int64 // as Content-Length says
	size      int64 // of the body that came
	header    int   // bytes of header fields that came
	kept      transport.Body
	cookies   []byte
	fields    []byte
	wanted    []string // of the request

	isCall bool
	call   grpc.Call // if it is one

	events *event.Reader // nil: it is not read as a stream of events
}

// begin prepares for the response to a request. The memory of the last is used again.
func (st *Stream) begin(r *transport.Request) {
	st.kept.Free() // to the budget that it was taken from
	st.id, st.body, st.waiting = 0, nil, nil
	st.response = response{
		head: r.Method == http.MethodHead, keepCookies: r.KeepCookies, keepMessage: r.KeepMessage,
		kept: st.kept, cookies: st.cookies[:0], fields: st.fields[:0], wanted: r.KeepFields, isCall: r.Call, call: grpc.Call{May: r.Replies},
	}
	st.kept.Budget = r.Budget
	st.kept.Begin(r.Keep)
}

// beginStream has the response read as a stream of events if the request asks for that, before a deadline.
func (st *Stream) beginStream(r *transport.Request, deadline time.Duration) {
	if r.Stream == nil {
		return
	}
	if st.reader == nil {
		st.reader = &event.Reader{}
	}
	st.reader.Begin(r, deadline)
	st.events = st.reader
}

// Response is the response of a stream that ended without an error. Its body is valid until
// the stream is used again, or until it is freed.
func (st *Stream) Response() transport.Response {
	r := transport.Response{Status: st.status, Size: st.size, SetCookies: st.cookies, Fields: st.fields}
	if st.isCall {
		r.Status, r.Size, r.Replies = st.call.Status(), st.call.Size(), st.call.Replies()
		r.Message = st.call.Message()
	}
	return st.kept.In(r)
}

// HasRest reports whether the request is not sent whole.
func (st *Stream) HasRest() bool { return len(st.body) > 0 || len(st.waiting) > 0 }

// beginData takes DATA, all but the data: the length of the padding, if there is one.
func (m *Mux) beginData(f frame, payload []byte) *violation {
	if f.id == 0 {
		return violated(protocolError, "DATA on stream 0")
	}
	st, v := m.stream(&f)
	if v != nil {
		return v
	}
	if !m.credit.use(f.length) {
		return violated(flowControlError, "DATA of %d bytes, more than was granted to the connection", f.length)
	}
	m.grant(&m.credit, 0)
	m.data, m.left, m.padding = f, f.length, 0
	if f.has(flagPadded) {
		if len(payload) == 0 || int(payload[0]) >= f.length {
			return violated(protocolError, "DATA of %d bytes with as much padding", f.length)
		}
		m.padding = int(payload[0])
		m.left -= 1 + m.padding
	}
	if st != nil {
		m.checkData(st, f)
	}
	if m.left > 0 || st != nil && f.has(flagEndStream) {
		m.idle = 0
	}
	if m.left == 0 && m.padding == 0 {
		m.endData()
	}
	return nil
}

// checkData ends a stream that may not have these data.
func (m *Mux) checkData(st *Stream, f frame) {
	switch {
	case !st.credit.use(f.length):
		m.violate(st, violated(flowControlError, "DATA of %d bytes, more than was granted to the stream", f.length))
	case st.status == 0:
		m.violate(st, violated(protocolError, "DATA before the header of the response"))
	case m.left > 0 && st.bodiless():
		m.violate(st, violated(protocolError, "a body, where a response to HEAD or of status %d has none", st.status))
	case st.hasLength && st.size+int64(m.left) > st.length:
		m.violate(st, violated(protocolError, "a body longer than its Content-Length of %d", st.length))
	}
}

// bodiless reports whether the response can have no body (RFC 9110, 6.4.1).
func (r *response) bodiless() bool { return r.head || r.status == 204 || r.status == 304 }

// payload takes of what was read what belongs to a frame of DATA.
func (m *Mux) payload(in []byte) (taken int) {
	taken = min(len(in), m.left)
	if taken > 0 {
		if st, ok := m.find(m.data.id); ok {
			m.takeData(st, in[:taken])
		}
		m.left -= taken
	}
	skipped := min(len(in)-taken, m.padding)
	m.padding -= skipped
	m.after -= taken + skipped
	if m.left == 0 && m.padding == 0 {
		m.endData()
	}
	return taken + skipped
}

// takeData takes a piece of a frame of DATA.
func (m *Mux) takeData(st *Stream, b []byte) {
	if st.events != nil {
		if !st.read {
			st.read = true
			m.reads = append(m.reads, st)
		}
		st.events.Body(b)
		if len(b) == m.left {
			st.events.EndChunk()
		}
	}
	if err := st.take(b); err != nil {
		m.abandon(st, err)
	}
}

// tell tells the owners of streams of events of what was read.
func (m *Mux) tell() {
	for i, st := range m.reads {
		st.read = false
		if st.events != nil {
			st.owner.came(st)
		}
		m.reads[i] = nil
	}
	m.reads = m.reads[:0]
}

func (r *response) take(b []byte) error {
	r.size += int64(len(b))
	if r.isCall {
		return r.call.Data(b, &r.kept)
	}
	r.kept.Append(b)
	return nil
}

// endData ends a frame of DATA.
func (m *Mux) endData() {
	st, ok := m.find(m.data.id)
	switch {
	case !ok:
	case m.data.has(flagEndStream):
		m.endStream(st)
	default:
		m.grant(&st.credit, st.id)
	}
}

// endStream ends a stream that the server has ended.
func (m *Mux) endStream(st *Stream) {
	if len(st.body) > 0 {
		// The response does not depend on the rest of the request (RFC 9113, 8.1).
		m.reply(frameReset, st.id, uint32(noError))
	}
	if st.hasLength && st.size != st.length && !st.bodiless() {
		m.end(st, violated(protocolError, "a body of %d bytes, where Content-Length says %d", st.size, st.length))
		return
	}
	if st.isCall {
		m.end(st, st.call.End())
		return
	}
	m.end(st, nil)
}
