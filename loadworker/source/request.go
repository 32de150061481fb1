package source

import (
	"errors"
	"fmt"
	"net/textproto"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"

	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
)

// Request is one request of the mix; Path, the header values and Body are
// templates.
type Request struct {
	Name    string
	Weight  int32
	Method  string
	Path    string
	Headers []Header
	Body    string
	// BodyHidden says that no error may show any of the body, which may be secret.
	BodyHidden bool
	// Form goes instead of Body, and has a Content-Type of its own.
	Form []FormField
	// Targets go instead of Method, Path and Body; nil: there are none. A header of
	// Headers is left out for a target that has one of its name.
	Targets *Targets
	// Call goes instead of Method, Path and Body; nil: it is no call. Headers are its
	// metadata.
	Call   *Call
	Expect Expectation
	// Timeout goes instead of the target's; 0: the target's.
	Timeout time.Duration
	// Target is which target it goes to, 0 for the first; Secure says that another than the first
	// is reached over TLS.
	Target int
	Secure bool
	// Follow is how many redirects are followed at most.
	Follow int
	// Stream is how the response is read if it comes in parts; nil: as a whole.
	Stream *transport.Stream
	// Tokens are those that a stream says that it had.
	Tokens Tokens
	// WebSocket is what is sent over the connection that Path and Headers open; nil: it opens none. Stream is
	// set with it, and Body is not.
	WebSocket *WebSocket
}

// Header is one header field; Value is a template unless it is Literal.
type Header struct {
	Name, Value string
	Literal     bool
	// Credential makes the value instead; nil: there is none.
	Credential Credential
	// Signer makes the value instead, and others beside it, from the rendered request; nil: there
	// is none.
	Signer Signer
}

// Credential is a header's value that changes during a run. It is safe for concurrent use.
type Credential interface {
	// Append appends the value of this moment.
	Append(dst []byte) []byte
	problem
}

// Signer signs requests. It is safe for concurrent use.
type Signer interface {
	// Sign adds headers to a request that is rendered, and may replace its query.
	Sign(r *transport.Request)
	problem
}

type problem interface {
	// Problem says why requests may be refused; "": they should not.
	Problem() string
}

// request is a compiled Request.
type request struct {
	name    string
	method  string
	path    *Template
	headers []header
	body    *Template
	expect  expectation
	client  int   // the index of the client header; -1: none
	slots   []int // of the tables that it takes a row of, in their order
	// captured are the values of a journey that it has.
	captured []capturedUse
	targets  *Targets
	before   *cycleCounter // of the requests of the mix that are this one, if it has targets
	// clientName is the name of the client header, which a target may have.
	clientName string
	call       *call // nil: it is none
	timeout    time.Duration
	target     int
	secure     bool
	login      problem // nil: no header has a credential, and there is no signer
	signer     Signer  // nil: there is none
	follow     int
	fields     []string // of a response, which are kept
	stream     *transport.Stream
	tokens     tokens
	socket     *socket // nil: it opens none
}

// traceHeader is that of the trace context, in canonical form.
const traceHeader = "Traceparent"

var errTraced = errors.New("is sent for target.trace; leave out one of them")

// capturedUse is a captured value in a request, and where it stands.
type capturedUse struct {
	name string
	slot int
	at   position
}

type header struct {
	name  string
	value *Template
}

// Check returns the mistakes of a request that takes no rows.
func (r Request) Check() error {
	_, err := compiler{}.compile(r)
	return err
}

// compiler compiles requests with the columns of all tables. captured are the names of
// captured values, which are among the columns; client is the name of the client header;
// traced says that each request has a trace header beside its own.
type compiler struct {
	columns  columns
	captured []string
	client   string
	traced   bool
	seed     int64
}

func (c compiler) compile(r Request) (request, error) {
	out := request{name: r.Name, method: r.Method, client: -1, clientName: c.client, targets: r.Targets, timeout: r.Timeout, target: r.Target, secure: r.Secure, stream: r.Stream}
	switch {
	case r.Targets != nil:
		return c.compileTargets(r, out)
	case r.Call != nil:
		return c.compileCall(r, out)
	}
	if out.follow = r.Follow; out.follow > 0 {
		out.fields = []string{location}
	}
	if !httpguts.ValidHeaderFieldName(r.Method) { // both are tokens
		return out, fmt.Errorf("method: %q is not an HTTP method", r.Method)
	}
	if !strings.HasPrefix(r.Path, "/") {
		return out, errors.New("path: must begin with a slash")
	}
	if i := strings.IndexFunc(r.Path, notInPath); i >= 0 {
		return out, fmt.Errorf("path: the character at %d must be percent-encoded", i)
	}
	var err error
	if out.path, err = c.template(&out, r.Path, inPath); err != nil {
		return out, fmt.Errorf("path: %w", err)
	}
	if r.WebSocket != nil {
		if err := c.compileSocket(r, &out); err != nil {
			return out, err
		}
	}
	if len(r.Form) > 0 {
		media := ""
		if out.body, media, err = c.formBody(&out, r.Form); err != nil {
			return out, err
		}
		r.Headers = withContentType(r.Headers, media)
	} else if out.body, err = c.template(&out, r.Body, inBody); err != nil {
		if wrong, ok := errors.AsType[templateError](err); ok && r.BodyHidden {
			err = fmt.Errorf("the $ at %d does not begin any of %s", wrong.at, c.columns.known())
		}
		return out, fmt.Errorf("body: %w", err)
	}
	return c.compileRest(r, out)
}

// compileTargets compiles a request that has targets.
func (c compiler) compileTargets(r Request, out request) (request, error) {
	if r.Targets.Len() == 0 {
		return out, errors.New("targets: there are none")
	}
	if len(r.Headers) > maxReplaced {
		return out, fmt.Errorf("headers: at most %d can stand beside targets", maxReplaced)
	}
	if c.traced && r.Targets.have(traceHeader) {
		return out, fmt.Errorf("targets: header %q: %w", traceHeader, errTraced)
	}
	out, err := c.compileRest(r, out)
	r.Targets.replace(out.headers)
	return out, err
}

// compileRest compiles what all requests have.
func (c compiler) compileRest(r Request, out request) (request, error) {
	for _, h := range r.Headers {
		if h.Signer != nil {
			out.login, out.signer = h.Signer, h.Signer
			continue
		}
		compiled, err := c.header(&out, h)
		if err != nil {
			return out, fmt.Errorf("header %q: %w", h.Name, err)
		}
		if c.traced && compiled.name == traceHeader {
			return out, fmt.Errorf("header %q: %w", h.Name, errTraced)
		}
		if compiled.name == c.client {
			out.client = len(out.headers)
		}
		out.headers = append(out.headers, compiled)
	}
	var err error
	if out.tokens, err = r.Tokens.compile(out.stream); err != nil {
		return out, err
	}
	out.expect, err = r.Expect.compile()
	return out, err
}

func (c compiler) header(r *request, h Header) (header, error) {
	out := header{name: textproto.CanonicalMIMEHeaderKey(h.Name)}
	if !httpguts.ValidHeaderFieldName(h.Name) {
		return out, errors.New("is not a header name")
	}
	if !httpguts.ValidHeaderFieldValue(h.Value) {
		return out, errors.New("its value holds a control character")
	}
	if out.name == "Content-Length" || out.name == "Transfer-Encoding" {
		return out, errors.New("follows from the body; leave it out")
	}
	if h.Credential != nil {
		r.login = h.Credential
		out.value = &Template{parts: []part{{kind: credential, credential: h.Credential}}}
		return out, nil
	}
	if h.Literal {
		out.value = literal(h.Value)
		return out, nil
	}
	var err error
	out.value, err = c.template(r, h.Value, inHeader)
	return out, err
}

// template compiles a text, and records the columns that the request uses there.
func (c compiler) template(r *request, text string, at position) (*Template, error) {
	t, err := c.columns.compile(text)
	if err != nil {
		return nil, err
	}
	for i := range t.parts {
		switch p := &t.parts[i]; p.kind {
		case data:
			r.useColumn(p.column, at)
		case captured:
			r.captured = append(r.captured, capturedUse{name: c.captured[p.column.slot], slot: p.column.slot, at: at})
		}
	}
	return t, nil
}

// useColumn records that the request uses a column at a position.
func (r *request) useColumn(c column, at position) {
	c.table.strictest[c.index] = max(c.table.strictest[c.index], at)
	for i, slot := range r.slots {
		if slot == c.slot {
			return
		}
		if slot > c.slot {
			r.slots = append(r.slots[:i], append([]int{c.slot}, r.slots[i:]...)...)
			return
		}
	}
	r.slots = append(r.slots, c.slot)
}

// position is where in a request a text is. The later positions are the stricter
// ones: what a path may hold, a header may too, and a body.
type position uint8

const (
	inBody position = iota
	inHeader
	inPath
)

// check refuses what would break the framing of a request: a row of data must not
// become a request of its own. The error shows nothing of the text, which may be
// secret.
func (p position) check(text string) error {
	switch {
	case p >= inPath:
		if i := strings.IndexFunc(text, notInPath); i >= 0 {
			return fmt.Errorf("the character at %d must be percent-encoded, as it stands in a path", i)
		}
	case p >= inHeader && !httpguts.ValidHeaderFieldValue(text):
		return errors.New("holds a control character, and stands in a header")
	}
	return nil
}

// notInPath reports whether a character would end the path or the request line.
func notInPath(r rune) bool { return r <= ' ' || r == 0x7f || r == '#' }
