package source

import (
	"errors"
	"fmt"
	"net/textproto"
	"slices"
	"strings"

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
	// Expected lists the expected status codes. Empty: 200 to 399.
	Expected []int32
}

// Header is one header field; Value is a template.
type Header struct {
	Name, Value string
}

// Config is what a Source is made of.
type Config struct {
	Requests []Request
	// ClientHeader names the header whose value is the client of the audit.
	ClientHeader string
	// Seed of all that is random.
	Seed int64
}

// Source renders the requests of a run. It is safe for concurrent use.
type Source struct {
	requests []request
	cycle    []int
	seed     int64
}

// request is a compiled Request.
type request struct {
	name     string
	method   string
	path     *Template
	headers  []header
	body     *Template
	expected []int32
	client   int // which header is the client's; -1: none
}

type header struct {
	name  string
	value *Template
}

// New compiles the requests. The error names every request and field that is
// wrong, and says what is.
func New(c Config) (*Source, error) {
	if len(c.Requests) == 0 {
		return nil, errors.New("requests: there must be at least one")
	}
	s := &Source{seed: c.Seed}
	var errs []error
	weights := make([]int32, len(c.Requests))
	client := textproto.CanonicalMIMEHeaderKey(c.ClientHeader)
	for i, r := range c.Requests {
		compiled, err := compile(r, client)
		if err != nil {
			errs = append(errs, fmt.Errorf("request %q: %w", r.Name, err))
		}
		if weights[i] = r.Weight; r.Weight < 1 {
			errs = append(errs, fmt.Errorf("request %q: weight: must be at least 1, is %d", r.Name, r.Weight))
		}
		s.requests = append(s.requests, compiled)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	s.cycle = cycle(weights)
	return s, nil
}

func compile(r Request, client string) (request, error) {
	out := request{name: r.Name, method: r.Method, expected: r.Expected, client: -1}
	if !httpguts.ValidHeaderFieldName(r.Method) { // both are tokens
		return out, fmt.Errorf("method: %q is no HTTP method", r.Method)
	}
	if !strings.HasPrefix(r.Path, "/") {
		return out, fmt.Errorf("path: %q must begin with a slash", r.Path)
	}
	if i := strings.IndexFunc(r.Path, notInPath); i >= 0 {
		return out, fmt.Errorf("path: %q at %d must be percent-encoded", r.Path[i:i+1], i)
	}
	var err error
	if out.path, err = Compile(r.Path); err != nil {
		return out, fmt.Errorf("path: %w", err)
	}
	if out.body, err = Compile(r.Body); err != nil {
		return out, fmt.Errorf("body: %w", err)
	}
	for _, h := range r.Headers {
		compiled, err := compileHeader(h)
		if err != nil {
			return out, err
		}
		if compiled.name == client {
			out.client = len(out.headers)
		}
		out.headers = append(out.headers, compiled)
	}
	return out, nil
}

// notInPath finds what would end the request line or the request.
func notInPath(r rune) bool { return r <= ' ' || r == 0x7f || r == '#' }

func compileHeader(h Header) (header, error) {
	out := header{name: textproto.CanonicalMIMEHeaderKey(h.Name)}
	if !httpguts.ValidHeaderFieldName(h.Name) {
		return out, fmt.Errorf("header %q: is no header name", h.Name)
	}
	if !httpguts.ValidHeaderFieldValue(h.Value) {
		return out, fmt.Errorf("header %q: its value holds a control character", h.Name)
	}
	if out.name == "Content-Length" || out.name == "Transfer-Encoding" {
		return out, fmt.Errorf("header %q: follows from the body; leave it out", h.Name)
	}
	var err error
	if out.value, err = Compile(h.Value); err != nil {
		return out, fmt.Errorf("header %q: %w", h.Name, err)
	}
	return out, nil
}

// Len is how many requests the mix has.
func (s *Source) Len() int { return len(s.requests) }

// Name is the name of a request.
func (s *Source) Name(request int) string { return s.requests[request].name }

// Turn is which request a user's k-th is. Users begin at different places of
// the cycle, so that the mix is exact over time and also at each instant.
func (s *Source) Turn(user, k int64) int {
	return s.cycle[(user+k)%int64(len(s.cycle))]
}

// Expected says whether a status is as it should be.
func (s *Source) Expected(request, status int) bool {
	codes := s.requests[request].expected
	if len(codes) == 0 {
		return status >= 200 && status <= 399
	}
	return slices.Contains(codes, int32(status))
}

// Buffer holds a rendered request. It is reused, by one goroutine at a time.
type Buffer struct {
	// Request is what was rendered last, valid until the next time.
	Request transport.Request
	// Client is the rendered value of the client header.
	Client []byte

	random Random
	text   []byte
}

// Render fills in a request of the mix.
func (s *Source) Render(b *Buffer, index int, v Vars) {
	r := &s.requests[index]
	b.random.begin(s.seed, v.Step, v.Seq)
	b.text = b.text[:0]
	b.Request.Method = r.method
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
	b.text = t.Append(b.text, v, &b.random)
	return b.text[start:len(b.text):len(b.text)]
}
