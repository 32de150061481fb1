package source

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Vars are the values of a template's variables.
type Vars struct {
	// User is the user's number over all workers; 0 for arrivals.
	User int64
	// Seq is the number of the request within the step, over all workers.
	Seq int64
	// Worker is the worker's number.
	Worker int32
	// Step is the index of the step; it has no variable, but tells random values
	// of different steps apart.
	Step int32
}

// Template is a compiled text.
type Template struct {
	parts []part
}

// part is a literal, followed by a variable unless kind is none.
type part struct {
	literal string
	kind    kind
	from    int64  // of a random integer
	span    uint64 // its number of values
}

type kind uint8

const (
	none kind = iota
	user
	seq
	worker
	uuid
	random
)

const known = "${user}, ${seq}, ${worker}, ${uuid} and ${rand:a-b}; write $$ for a dollar sign"

// Compile compiles a text in which $$ stands for a dollar sign.
func Compile(text string) (*Template, error) {
	t := &Template{}
	var literal strings.Builder
	for {
		before, after, found := strings.Cut(text, "$")
		literal.WriteString(before)
		if !found {
			break
		}
		if rest, ok := strings.CutPrefix(after, "$"); ok {
			literal.WriteByte('$')
			text = rest
			continue
		}
		p, rest, err := variable(after)
		if err != nil {
			return nil, err
		}
		p.literal = literal.String()
		literal.Reset()
		t.parts = append(t.parts, p)
		text = rest
	}
	if literal.Len() > 0 {
		t.parts = append(t.parts, part{literal: literal.String()})
	}
	return t, nil
}

// variable compiles what follows a single dollar sign.
func variable(text string) (p part, rest string, err error) {
	inside, ok := strings.CutPrefix(text, "{")
	if !ok {
		return p, "", errors.New("a single $; write $$ for a dollar sign")
	}
	name, rest, ok := strings.Cut(inside, "}")
	if !ok {
		return p, "", fmt.Errorf("${%s has no closing brace", truncate(inside, 20))
	}
	switch name {
	case "user":
		p.kind = user
	case "seq":
		p.kind = seq
	case "worker":
		p.kind = worker
	case "uuid":
		p.kind = uuid
	default:
		bounds, ok := strings.CutPrefix(name, "rand:")
		if !ok {
			return p, "", fmt.Errorf("unknown variable ${%s}; known are %s", truncate(name, 40), known)
		}
		p.kind = random
		p.from, p.span, err = parseRange(bounds)
	}
	return p, rest, err
}

// parseRange reads a-b, two integers from 0 on.
func parseRange(text string) (from int64, span uint64, err error) {
	low, high, ok := strings.Cut(text, "-")
	a, errA := strconv.ParseInt(low, 10, 64)
	b, errB := strconv.ParseInt(high, 10, 64)
	if !ok || errA != nil || errB != nil || a < 0 || b < a {
		return 0, 0, fmt.Errorf("${rand:%s}: must be ${rand:a-b} with integers 0 <= a <= b", truncate(text, 40))
	}
	return a, uint64(b-a) + 1, nil
}

func truncate(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return s[:n] + "…"
}

// Append appends the text with the variables filled in. r is used for ${uuid}
// and ${rand:a-b}.
func (t *Template) Append(dst []byte, v Vars, r *Random) []byte {
	for i := range t.parts {
		p := &t.parts[i]
		dst = append(dst, p.literal...)
		switch p.kind {
		case user:
			dst = strconv.AppendInt(dst, v.User, 10)
		case seq:
			dst = strconv.AppendInt(dst, v.Seq, 10)
		case worker:
			dst = strconv.AppendInt(dst, int64(v.Worker), 10)
		case uuid:
			dst = r.appendUUID(dst)
		case random:
			dst = strconv.AppendInt(dst, p.from+int64(r.below(p.span)), 10)
		}
	}
	return dst
}
