package source

import (
	"net/http"

	"github.com/loadtest-dev/loadtest-operator/loadworker/message"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
)

// Buffer holds a rendered request. One goroutine at a time may use it.
type Buffer struct {
	// Request was rendered last. It is valid until the next Render.
	Request transport.Request
	// Client is the rendered value of the client header.
	Client []byte

	random Random
	text   []byte
	values message.Values // of a message
	json   []byte         // of one that has to be encoded
	plain  []byte         // one, before it is compressed
	rows   []int          // chosen, by slot of the table
	socket transport.WebSocket
}

// Render renders a request of the mix into a buffer.
func (s *Source) Render(b *Buffer, index int, v Vars) {
	r := &s.requests[index]
	b.random.begin(s.seed, v.Step, v.Seq)
	s.choose(b, r, &v)
	b.text = b.text[:0]
	b.Request.Keep, b.Request.Target = r.expect.keep(), r.target
	b.Request.Host, b.Client, b.Request.KeepCookies, b.Request.KeepFields = nil, nil, false, r.fields
	b.Request.Headers = b.Request.Headers[:0]
	b.Request.Call, b.Request.KeepMessage, b.Request.Err, b.Request.Stream = false, false, nil, r.stream
	b.Request.WebSocket = nil
	switch {
	case r.targets != nil:
		s.renderTarget(b, r, v)
		b.sign(r, v)
		return
	case r.call != nil:
		b.renderCall(r, v)
		return
	}
	b.Request.Method = r.method
	b.Request.Path = b.render(r.path, v)
	b.Request.Body = b.render(r.body, v)
	if v.Method != "" {
		b.record(v)
	}
	b.renderHeaders(r, v, 0)
	if r.socket != nil {
		b.renderSocket(r, v)
	}
	if v.Redirect != nil {
		v.Redirect.apply(&b.Request)
	}
	b.sign(r, v)
}

// record puts method and path of a line of a log in the place of the request's own.
func (b *Buffer) record(v Vars) {
	start := len(b.text)
	b.text = append(b.text, v.Path...)
	b.Request.Method, b.Request.Path = v.Method, b.text[start:len(b.text):len(b.text)]
	if v.Method == http.MethodGet || v.Method == http.MethodHead {
		b.Request.Body = nil
	}
}

// sign signs what was rendered, unless it goes to another target than the one of the login.
func (b *Buffer) sign(r *request, v Vars) {
	if r.signer != nil && (v.Redirect == nil || !v.Redirect.abroad) {
		r.signer.Sign(&b.Request)
	}
}

// renderHeaders renders the headers of a request but those whose bits are set in skip.
func (b *Buffer) renderHeaders(r *request, v Vars, skip uint64) {
	for i := range r.headers {
		if skip>>i&1 == 0 {
			b.addHeader(r.headers[i].name, b.render(r.headers[i].value, v), i == r.client)
		}
	}
}

func (b *Buffer) addHeader(name string, value []byte, client bool) {
	if client {
		b.Client = value
	}
	if name == "Host" {
		b.Request.Host = value
		return
	}
	b.Request.Headers = append(b.Request.Headers, transport.Header{Name: name, Value: value})
}

// Append adds a header to a request that was rendered. value appends its value.
func (b *Buffer) Append(name string, value func([]byte) []byte) {
	start := len(b.text)
	b.text = value(b.text)
	b.addHeader(name, b.text[start:len(b.text):len(b.text)], false)
}

// render appends to the text of the request. When that grows, what was rendered
// before keeps its place in the old memory, so earlier slices stay valid.
func (b *Buffer) render(t *Template, v Vars) []byte {
	start := len(b.text)
	b.text = t.Append(b.text, v, &b.random, b.rows)
	return b.text[start:len(b.text):len(b.text)]
}

// choose chooses one row of each table for all of the request: of the table of which each
// user has a row, that of the user.
func (s *Source) choose(b *Buffer, r *request, v *Vars) {
	if len(r.slots) == 0 {
		return
	}
	if b.rows == nil {
		b.rows = make([]int, len(s.tables))
	}
	for _, slot := range r.slots {
		if slot+1 == v.own {
			b.rows[slot] = int(v.ownRow % int64(s.tables[slot].Rows()))
			continue
		}
		b.rows[slot] = s.tables[slot].pick(&b.random, v.Order.rowNumber(s.counters[slot].of(v.Order.By)))
	}
}
