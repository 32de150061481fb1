package source

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// MaxTargets bounds the targets of a request. Each takes 64 bytes beside its text.
const MaxTargets = 100_000

// Target is a request that is sent as it is written: nothing in it is a template.
type Target struct {
	Method, Path string
	Headers      []Header
	Body         []byte
}

// Targets are sent in turn, as one request of the mix. None may be added once a Source
// renders requests with them.
type Targets struct {
	text    []byte // of paths, header values and bodies
	headers []targetHeader
	list    []target
}

type target struct {
	method     string
	path, body span
	headers    span // of Targets.headers
	// replaced has a bit for each header of the request that this target has itself.
	replaced uint64
}

// maxReplaced is the number of headers of a request that a target's bits can name.
const maxReplaced = 64

type targetHeader struct {
	name  string
	value span
}

// span is from one index to before another.
type span struct{ from, to uint32 }

// Len returns the number of targets.
func (t *Targets) Len() int { return len(t.list) }

// Add adds a target. Its error shows nothing that may be secret.
func (t *Targets) Add(x Target) error {
	switch {
	case len(t.list) == MaxTargets:
		return fmt.Errorf("is more than the %d targets of a request: divide them over several requests, or LoadTests", MaxTargets)
	case !httpguts.ValidHeaderFieldName(x.Method) || x.Method == "CONNECT": // both are tokens
		return errors.New("method: is not one that can be sent")
	case !strings.HasPrefix(x.Path, "/"):
		return errors.New("path: must begin with a slash")
	}
	if err := inPath.check(x.Path); err != nil {
		return fmt.Errorf("path: %w", err)
	}
	out := target{method: x.Method, headers: span{from: uint32(len(t.headers))}}
	for _, h := range x.Headers {
		h.Literal = true
		compiled, err := compiler{}.header(nil, h)
		if err != nil {
			return fmt.Errorf("header%s: %w", shown(h.Name), err)
		}
		t.headers = append(t.headers, targetHeader{name: compiled.name, value: t.keep(h.Value)})
	}
	out.headers.to = uint32(len(t.headers))
	out.path, out.body = t.keep(x.Path), t.keep(string(x.Body))
	t.list = append(t.list, out)
	return nil
}

// shown is the name of a header in quotes, if it is one.
func shown(name string) string {
	if !httpguts.ValidHeaderFieldName(name) {
		return ""
	}
	return fmt.Sprintf(" %q", name)
}

// keep adds to the text.
func (t *Targets) keep(s string) span {
	from := uint32(len(t.text))
	t.text = append(t.text, s...)
	return span{from, uint32(len(t.text))}
}

// at is the text of a span, to which nothing can be appended.
func (t *Targets) at(s span) []byte { return t.text[s.from:s.to:s.to] }

// have says whether any target has a header of that name.
func (t *Targets) have(name string) bool {
	return slices.ContainsFunc(t.headers, func(h targetHeader) bool { return h.name == name })
}

// replace notes which headers of the request each target has itself.
func (t *Targets) replace(headers []header) {
	for i := range t.list {
		x := &t.list[i]
		x.replaced = 0
		for _, own := range t.headers[x.headers.from:x.headers.to] {
			for j := range headers {
				if headers[j].name == own.name {
					x.replaced |= 1 << j
				}
			}
		}
	}
}

// turn is how many requests of a step's mix, over all workers, come before this one and
// are the same: it takes the target of that number. Of users, each takes the number of
// its own, then those that are the number of users apart. Outside a mix, as in a journey,
// it is the number of the request.
func (s *Source) turn(r *request, v Vars) int64 {
	switch {
	case v.walks || v.Order.By == 0 || r.before.total[0] == 0:
		return v.Seq
	case v.Users == 0 && s.block > 0:
		blocks := v.Seq / s.block
		return blocks*r.before.count(0, s.block) + r.before.count(blocks, v.Seq%s.block)
	case v.Users == 0:
		return r.before.count(0, v.Seq)
	default:
		k := (v.Seq - v.User) / v.Users
		return r.before.count(v.User, k)*v.Users + v.User
	}
}

// countTurns makes the counters of requests that have targets.
func (s *Source) countTurns() {
	for n := range s.requests {
		if s.requests[n].targets == nil {
			continue
		}
		is := make([]bool, len(s.cycle))
		for i, request := range s.cycle {
			is[i] = request == n
		}
		s.requests[n].before = newCycleCounter(is, 1)
	}
}

// renderTarget renders the target whose turn it is: its own headers come after those of
// the request.
func (s *Source) renderTarget(b *Buffer, r *request, v Vars) {
	all := r.targets
	x := &all.list[s.turn(r, v)%int64(len(all.list))]
	b.Request.Method, b.Request.Path, b.Request.Body = x.method, all.at(x.path), all.at(x.body)
	b.renderHeaders(r, v, x.replaced)
	for _, h := range all.headers[x.headers.from:x.headers.to] {
		b.addHeader(h.name, all.at(h.value), h.name == r.clientName)
	}
}
