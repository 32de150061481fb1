package source

import (
	"errors"
	"fmt"
	"net/textproto"
	"strings"

	"golang.org/x/net/http/httpguts"
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
	// BodyHidden says that no error may show any of the body, since it may be secret.
	BodyHidden bool
	Expect     Expectation
}

// Header is one header field; Value is a template unless it is Literal.
type Header struct {
	Name, Value string
	Literal     bool
}

// Config is what a Source is made of.
type Config struct {
	Requests []Request
	// Tables are what templates take rows of.
	Tables []*Table
	// ClientHeader names the header whose value is the client of the audit.
	ClientHeader string
	// Seed of all that is random.
	Seed int64
	// Workers is how many share the run.
	Workers int32
}

// Source renders the requests of a run. It is safe for concurrent use.
type Source struct {
	requests []request
	cycle    []int
	seed     int64
	tables   []*Table
	walks    []walks // by table
}

// New compiles the requests. The error names every request and field that is
// wrong, and says what is.
func New(c Config) (*Source, error) {
	if len(c.Requests) == 0 {
		return nil, errors.New("requests: there must be at least one")
	}
	columns, err := c.columns()
	if err != nil {
		return nil, err
	}
	s := &Source{seed: c.Seed, tables: c.Tables}
	var errs []error
	weights := make([]int32, len(c.Requests))
	compiler := compiler{columns: columns, client: textproto.CanonicalMIMEHeaderKey(c.ClientHeader)}
	for i, r := range c.Requests {
		compiled, err := compiler.compile(r)
		if err != nil {
			errs = append(errs, fmt.Errorf("request %q: %w", r.Name, err))
		}
		if weights[i] = r.Weight; r.Weight < 1 {
			errs = append(errs, fmt.Errorf("request %q: weight: must be at least 1, is %d", r.Name, r.Weight))
		}
		s.requests = append(s.requests, compiled)
	}
	for _, t := range c.Tables {
		errs = append(errs, t.checkAll())
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	s.cycle = cycle(weights)
	s.prepareWalks(int64(max(c.Workers, 1)))
	return s, nil
}

// columns are those of all tables.
func (c Config) columns() (columns, error) {
	all := columns{}
	for slot, t := range c.Tables {
		for index, name := range t.columns {
			if other, ok := all[name]; ok {
				return nil, fmt.Errorf("%s: column %q is one of %s too", t.name, name, other.table.name)
			}
			all[name] = column{table: t, index: index, slot: slot}
		}
	}
	return all, nil
}

// Len is how many requests the mix has.
func (s *Source) Len() int { return len(s.requests) }

// Name is the name of a request.
func (s *Source) Name(request int) string { return s.requests[request].name }

// Takes says whether a request takes rows of a table.
func (s *Source) Takes(request int, t *Table) bool {
	for _, slot := range s.requests[request].slots {
		if s.tables[slot] == t {
			return true
		}
	}
	return false
}

// Turn is which request a user's k-th is. Users begin at different places of
// the cycle, so that the mix is exact over time and also at each instant.
func (s *Source) Turn(user, k int64) int {
	return s.cycle[(user+k)%int64(len(s.cycle))]
}

// request is a compiled Request.
type request struct {
	name    string
	method  string
	path    *Template
	headers []header
	body    *Template
	expect  expectation
	client  int   // which header is the client's; -1: none
	slots   []int // of the tables of which it takes a row, in their order
}

type header struct {
	name  string
	value *Template
}

// Check says what is wrong with a request that takes rows of no table.
func (r Request) Check() error {
	_, err := compiler{}.compile(r)
	return err
}

// compiler compiles requests.
type compiler struct {
	columns columns
	client  string
}

func (c compiler) compile(r Request) (request, error) {
	out := request{name: r.Name, method: r.Method, client: -1}
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
	if out.path, err = c.template(&out, r.Path, inPath); err != nil {
		return out, fmt.Errorf("path: %w", err)
	}
	if out.body, err = c.template(&out, r.Body, inBody); err != nil {
		if wrong, ok := errors.AsType[templateError](err); ok && r.BodyHidden {
			err = fmt.Errorf("the $ at %d begins none of %s", wrong.at, c.columns.known())
		}
		return out, fmt.Errorf("body: %w", err)
	}
	for _, h := range r.Headers {
		compiled, err := c.header(&out, h)
		if err != nil {
			return out, fmt.Errorf("header %q: %w", h.Name, err)
		}
		if compiled.name == c.client {
			out.client = len(out.headers)
		}
		out.headers = append(out.headers, compiled)
	}
	out.expect, err = r.Expect.compile()
	return out, err
}

func (c compiler) header(r *request, h Header) (header, error) {
	out := header{name: textproto.CanonicalMIMEHeaderKey(h.Name)}
	if !httpguts.ValidHeaderFieldName(h.Name) {
		return out, errors.New("is no header name")
	}
	if !httpguts.ValidHeaderFieldValue(h.Value) {
		return out, errors.New("its value holds a control character")
	}
	if out.name == "Content-Length" || out.name == "Transfer-Encoding" {
		return out, errors.New("follows from the body; leave it out")
	}
	if h.Literal {
		out.value = literal(h.Value)
		return out, nil
	}
	var err error
	out.value, err = c.template(r, h.Value, inHeader)
	return out, err
}

// template compiles a text, and notes of which tables the request takes rows and
// where they stand.
func (c compiler) template(r *request, text string, at place) (*Template, error) {
	t, err := c.columns.compile(text)
	if err != nil {
		return nil, err
	}
	for i := range t.parts {
		if t.parts[i].kind == data {
			r.take(t.parts[i].column, at)
		}
	}
	return t, nil
}

// take notes that a column stands at a place of the request.
func (r *request) take(c column, at place) {
	c.table.strict[c.index] = max(c.table.strict[c.index], at)
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
