package source

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/message"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport/grpc"
)

// Call is a unary call of gRPC.
type Call struct {
	Method *message.Method
	// Message is JSON, whose strings are templates.
	Message string
	// Timeout is the deadline that the target is given.
	Timeout time.Duration
}

// call is a compiled Call.
type call struct {
	method *message.Method
	path   []byte
	// constant is the framed message of a call whose message has no variables; nil: it is
	// the request's body that is encoded.
	constant []byte
}

// compileCall compiles a request that is a call. Its message is a body that is encoded.
func (c compiler) compileCall(r Request, out request) (request, error) {
	for _, h := range r.Headers {
		if isOfCall(h.Name) {
			return out, fmt.Errorf("metadata %q: follows from the call; leave it out", h.Name)
		}
	}
	out.method, out.call = http.MethodPost, &call{method: r.Call.Method, path: []byte(r.Call.Method.Path())}
	var err error
	if out.body, err = c.template(&out, r.Call.Message, inBody); err != nil {
		return out, fmt.Errorf("message: %w", err)
	}
	out.body.inJSON = true
	if err := out.encodeConstant(); err != nil {
		return out, fmt.Errorf("message: %w", err)
	}
	r.Headers = append([]Header{
		{Name: "Te", Value: "trailers", Literal: true},
		{Name: "Content-Type", Value: "application/grpc", Literal: true},
		{Name: "Grpc-Timeout", Value: grpc.Timeout(r.Call.Timeout), Literal: true},
	}, r.Headers...)
	return c.compileRest(r, out)
}

// isOfCall reports whether a field of the header follows from the call.
func isOfCall(name string) bool {
	name = strings.ToLower(name)
	return name == "te" || name == "content-type" || strings.HasPrefix(name, "grpc-")
}

// encodeConstant encodes a message without variables. Of another it refuses only fields that
// there are not: what is wrong with values is known when they are.
func (r *request) encodeConstant() error {
	framed, err := r.call.encode(nil, r.body.sample())
	if len(r.body.parts) == 1 && r.body.parts[0].kind == none {
		r.call.constant = framed
		return err
	}
	if wrong, ok := errors.AsType[*message.Error](err); ok && wrong.IsUnknownField() {
		return err
	}
	return nil
}

// encode appends a message in its frame.
func (c *call) encode(to, json []byte) ([]byte, error) {
	at := len(to)
	to, err := c.method.Encode(append(to, make([]byte, grpc.PrefixSize)...), json)
	if err != nil {
		return to, err
	}
	grpc.Frame(to[at:])
	return to, nil
}

// renderCall renders a call. One whose values are none of its message's fields cannot be
// sent.
func (b *Buffer) renderCall(r *request, v Vars) {
	b.Request.Method, b.Request.Path, b.Request.Call = r.method, r.call.path, true
	b.renderHeaders(r, v, 0)
	if r.call.constant != nil {
		b.Request.Body = r.call.constant
		return
	}
	json := b.render(r.body, v)
	start := len(b.text)
	var err error
	b.text, err = r.call.encode(b.text, json)
	b.Request.Body = b.text[start:len(b.text):len(b.text)]
	if wrong, ok := errors.AsType[*message.Error](err); ok {
		err = wrong.Hidden()
	}
	if err != nil {
		b.Request.Err = fmt.Errorf("request %q: message: %w", r.name, err)
	}
}

// checkMessages refuses rows that messages cannot have. A value that is captured later is
// not known yet.
func (s *Source) checkMessages() error {
	var errs []error
	for i := range s.requests {
		if r := &s.requests[i]; r.call != nil && r.call.constant == nil && len(r.captured) == 0 {
			errs = append(errs, s.checkMessage(r))
		}
	}
	return errors.Join(errs...)
}

// checkMessage encodes the message of a call with each row of each table that it takes.
func (s *Source) checkMessage(r *request) error {
	for _, slot := range r.slots {
		if s.tables[slot].Rows() == 0 {
			return nil
		}
	}
	b := Buffer{rows: make([]int, len(s.tables))}
	render := func() error {
		b.text, b.Request.Headers, b.Request.Err = b.text[:0], b.Request.Headers[:0], nil
		b.renderCall(r, Vars{})
		return b.Request.Err
	}
	if len(r.slots) == 0 {
		return render()
	}
	for _, slot := range r.slots {
		for b.rows[slot] = range s.tables[slot].Rows() {
			if err := render(); err != nil {
				return fmt.Errorf("%s%s: %w", s.tables[slot].name, s.tables[slot].line(b.rows[slot]), err)
			}
		}
		b.rows[slot] = 0
	}
	return nil
}

// appendJSON appends what stands for a text within a string of JSON.
func appendJSON(dst, text []byte) []byte {
	const digits = "0123456789abcdef"
	for _, c := range text {
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c < ' ':
			dst = append(dst, '\\', 'u', '0', '0', digits[c>>4], digits[c&0xf])
		default:
			dst = append(dst, c)
		}
	}
	return dst
}
