package source

import "github.com/loadtest-dev/loadtest-operator/loadworker/transport"

// Buffer holds a rendered request. One goroutine at a time may use it.
type Buffer struct {
	// Request was rendered last. It is valid until the next Render.
	Request transport.Request
	// Client is the rendered value of the client header.
	Client []byte

	random Random
	text   []byte
	rows   []int // chosen, by slot of the table
}

// Render renders a request of the mix into a buffer.
func (s *Source) Render(b *Buffer, index int, v Vars) {
	r := &s.requests[index]
	b.random.begin(s.seed, v.Step, v.Seq)
	s.choose(b, r, v.Order)
	b.text = b.text[:0]
	b.Request.Method = r.method
	b.Request.Keep = r.expect.keep()
	b.Request.Path = b.render(r.path, v)
	b.Request.Body = b.render(r.body, v)
	b.Request.Host, b.Client = nil, nil
	b.Request.Headers = b.Request.Headers[:0]
	for i := range r.headers {
		value := b.render(r.headers[i].value, v)
		if i == r.client {
			b.Client = value
		}
		if r.headers[i].name == "Host" {
			b.Request.Host = value
			continue
		}
		b.Request.Headers = append(b.Request.Headers, transport.Header{Name: r.headers[i].name, Value: value})
	}
}

// render appends to the text of the request. When that grows, what was rendered
// before keeps its place in the old memory, so earlier slices stay valid.
func (b *Buffer) render(t *Template, v Vars) []byte {
	start := len(b.text)
	b.text = t.Append(b.text, v, &b.random, b.rows)
	return b.text[start:len(b.text):len(b.text)]
}

// choose chooses one row of each table for all of the request.
func (s *Source) choose(b *Buffer, r *request, o Order) {
	if len(r.slots) == 0 {
		return
	}
	if b.rows == nil {
		b.rows = make([]int, len(s.tables))
	}
	for _, slot := range r.slots {
		b.rows[slot] = s.tables[slot].pick(&b.random, o.rowNumber(s.counters[slot].of(o.By)))
	}
}
