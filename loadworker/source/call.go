package source

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/message"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport/grpc"
)

// Call is a call of gRPC.
type Call struct {
	Method *message.Method
	// Messages are JSON, whose strings are templates. A method that takes no stream has one.
	Messages []string
	// Timeout is the deadline that the target is given.
	Timeout time.Duration
	// Gzip says that the messages are compressed, and that replies may be.
	Gzip bool
}

// call is a compiled Call.
type call struct {
	method   *message.Method
	path     []byte
	replies  transport.Replies
	messages []callMessage
	// constant is the body of a call whose messages have no variables; nil: it is rendered.
	constant []byte
}

// callMessage is a message of a call.
type callMessage struct {
	form
	// constant is the message in its frame; nil: it has variables.
	constant []byte
}

// messagesOfCall are the events of a call that returns a stream.
var messagesOfCall = transport.Stream{Events: transport.Messages}

// compileCall compiles a request that is a call.
func (c compiler) compileCall(r Request, out request) (request, error) {
	for _, h := range r.Headers {
		if isOfCall(h.Name) {
			return out, fmt.Errorf("metadata %q: follows from the call; leave it out", h.Name)
		}
	}
	out.method, out.call = http.MethodPost, &call{
		method: r.Call.Method, path: []byte(r.Call.Method.Path()),
		replies: transport.Replies{Stream: r.Call.Method.ReturnsStream(), Gzip: r.Call.Gzip},
	}
	if out.call.replies.Stream {
		out.stream = &messagesOfCall
	}
	if err := r.Call.checkCounts(r.Expect); err != nil {
		return out, err
	}
	for i, text := range r.Call.Messages {
		if err := c.addMessage(&out, text); err != nil {
			return out, fmt.Errorf("%s: %w", fieldOfMessage(i, len(r.Call.Messages)), err)
		}
	}
	out.call.joinConstants()
	r.Headers = append(r.Call.headers(), r.Headers...)
	return c.compileRest(r, out)
}

// checkCounts refuses numbers of messages and replies that the method cannot have.
func (c *Call) checkCounts(e Expectation) error {
	switch n := len(c.Messages); {
	case n != 1 && !c.Method.TakesStream():
		return fmt.Errorf("grpc.messages: has %d messages, and %s takes one", n, c.Method.Name())
	case c.Method.ReturnsStream():
	// With values there is one reply at least, whatever returns it.
	case e.MinReplies > 1 || e.MaxReplies > 0 || e.MinReplies == 1 && len(e.JSON) == 0:
		return fmt.Errorf("expect.replies: must not be set, as %s returns one reply and no stream", c.Method.Name())
	}
	return nil
}

// fieldOfMessage names one of several messages in an error.
func fieldOfMessage(i, of int) string {
	if of == 1 {
		return "message"
	}
	return fmt.Sprintf("messages[%d]", i)
}

// headers are the fields that follow from a call.
func (c *Call) headers() []Header {
	list := []Header{
		{Name: "Te", Value: "trailers", Literal: true},
		{Name: "Content-Type", Value: "application/grpc", Literal: true},
		{Name: "Grpc-Timeout", Value: grpc.Timeout(c.Timeout), Literal: true},
	}
	if c.Gzip {
		list = append(list, Header{Name: "Grpc-Encoding", Value: grpc.Encoding, Literal: true}, Header{Name: "Grpc-Accept-Encoding", Value: grpc.Encoding, Literal: true})
	}
	return list
}

// isOfCall reports whether a field of the header follows from the call.
func isOfCall(name string) bool {
	name = strings.ToLower(name)
	return name == "te" || name == "content-type" || strings.HasPrefix(name, "grpc-")
}

// addMessage compiles a message. One without variables is encoded here. Of another, only
// fields that there are not are refused: what is wrong with values is known when they are.
func (c compiler) addMessage(r *request, text string) error {
	json, err := c.template(r, text, inBody)
	if err != nil {
		return err
	}
	var m callMessage
	framed, _, err := r.call.frame(nil, nil, func(to []byte) ([]byte, error) { return r.call.method.Encode(to, json.sample()) })
	if isConstant := len(json.parts) == 1 && json.parts[0].kind == none; isConstant {
		m.constant = framed
	} else {
		m.form = newForm(r.call.method, json)
		if wrong, ok := errors.AsType[*message.Error](err); !ok || !wrong.IsUnknownField() {
			err = nil
		}
	}
	r.call.messages = append(r.call.messages, m)
	return err
}

// joinConstants makes one body of messages that are all constant.
func (c *call) joinConstants() {
	for i := range c.messages {
		if c.messages[i].constant == nil {
			c.constant = nil
			return
		}
		c.constant = append(c.constant, c.messages[i].constant...)
	}
}

// frame appends a message, which encode appends, in its frame. What is compressed is encoded in
// scratch before, which is returned for the next one.
func (c *call) frame(to, scratch []byte, encode func(to []byte) ([]byte, error)) (framed, used []byte, err error) {
	at := len(to)
	to = append(to, make([]byte, grpc.PrefixSize)...)
	if c.replies.Gzip {
		if scratch, err = encode(scratch[:0]); err == nil {
			to = grpc.Compress(to, scratch)
		}
	} else {
		to, err = encode(to)
	}
	if err == nil {
		grpc.Frame(to[at:], c.replies.Gzip)
	}
	return to, scratch, err
}

// renderCall renders a call. One whose values are none of its messages' fields cannot be
// sent.
func (b *Buffer) renderCall(r *request, v Vars) {
	b.Request.Method, b.Request.Path, b.Request.Call, b.Request.Replies = r.method, r.call.path, true, r.call.replies
	b.renderHeaders(r, v, 0)
	if r.call.constant != nil {
		b.Request.Body = r.call.constant
		return
	}
	b.renderMessages(r, v)
}

// renderMessages renders the messages of a call, each in its frame.
func (b *Buffer) renderMessages(r *request, v Vars) {
	start := len(b.text)
	for i := range r.call.messages {
		if err := b.appendMessage(r.call, &r.call.messages[i], v); err != nil {
			b.Request.Err = fmt.Errorf("request %q: %s: %w", r.name, fieldOfMessage(i, len(r.call.messages)), err)
			break
		}
	}
	b.Request.Body = b.text[start:len(b.text):len(b.text)]
}

// appendMessage appends a message to the text of the request. Its JSON is not part of that.
func (b *Buffer) appendMessage(c *call, m *callMessage, v Vars) (err error) {
	if m.constant != nil {
		b.text = append(b.text, m.constant...)
		return nil
	}
	b.text, b.plain, err = c.frame(b.text, b.plain, func(to []byte) ([]byte, error) { return b.fill(to, c.method, &m.form, v) })
	if wrong, ok := errors.AsType[*message.Error](err); ok {
		err = wrong.Hidden()
	}
	return err
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

// escapeFrom replaces what stands behind an index by what stands for it within a string of JSON.
func escapeFrom(dst []byte, from int) []byte {
	for i := from; i < len(dst); i++ {
		if c := dst[i]; c == '"' || c == '\\' || c < ' ' {
			value := bytes.Clone(dst[i:])
			return appendJSON(dst[:i], value)
		}
	}
	return dst
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
