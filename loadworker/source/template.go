package source

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Vars are the values of a template's variables.
type Vars struct {
	// User is the user's number over all workers; 0 for arrivals.
	User int64
	// Seq is the number of the request within the step, over all workers. Of users it is
	// that of the user and a multiple of Users, their number; 0: there are none.
	Seq, Users int64
	// Worker is the worker's number.
	Worker int32
	// Step is the index of the step; it has no variable, but separates random values
	// of different steps apart.
	Step int32
	// Order has no variable either; it says which rows are next in turn.
	Order Order
	// Captured are the values that the user's journey captured, by their slot.
	Captured [][]byte

	// Redirect is followed; nil: the request is sent as it is.
	Redirect *Redirect

	// Method and Path go instead of those of the request, as they are: they are of a line of a log.
	// Its body goes with all methods but GET and HEAD. Empty: they are the request's own.
	Method, Path string

	walks  bool  // the request is of a Walk
	own    int   // the slot, plus one, of the table of which the user has a row; 0: none
	ownRow int64 // the number of that row
}

// Template is a compiled text.
type Template struct {
	parts []part
}

// part is a literal, and a variable after it unless kind is none.
type part struct {
	literal string
	kind    kind
	from    int64  // of a random integer
	span    uint64 // the number of its values
	column  column
	// credential is what appends a value that changes.
	credential Credential
	encoded    bool // the value is percent-encoded
	inJSON     bool // the value stands within a string of JSON
}

// column is the column of a table that a variable names, or a captured value.
type column struct {
	table *Table // nil: it is captured, and slot is its own
	index int
	slot  int // of the table
}

type kind uint8

const (
	none kind = iota
	user
	seq
	worker
	uuid
	random
	data
	captured
	credential
)

// variables are those that need no data, except ${rand:a-b}.
var variables = map[string]kind{"user": user, "seq": seq, "worker": worker, "uuid": uuid}

func reserved(name string) bool {
	_, ok := variables[name]
	return ok || name == "rand"
}

// columns are the columns that templates may name, by name.
type columns map[string]column

// known lists the variables for an error. The columns of a file are not named: a file
// without a line of names has values there.
func (c columns) known() string {
	list, files := "${user}, ${seq}, ${worker}, ${uuid}, ${rand:a-b}", ""
	for _, name := range slices.Sorted(maps.Keys(c)) {
		if table := c[name].table; table != nil && table.fromFile {
			files = ", the columns of spec.data"
		} else {
			list += ", ${" + name + "}"
		}
	}
	return list + files + "; write $$ for a dollar sign"
}

// templateError is a mistake at a dollar sign, whose index is at. Its text shows no more
// of the template than a name between braces.
type templateError struct {
	at int
	error
}

// Names returns the names of columns and captured values in a template, in their order, each
// once, and what the template would render with 1 for each variable that is not ${uuid}. It
// fails where no column could make the template right.
func Names(text string) (names []string, sample string, err error) {
	known := map[string]bool{}
	t, err := compileWith(text, func(name string) (column, bool) {
		ok := columnName.MatchString(name)
		if ok && !known[name] {
			names, known[name] = append(names, name), true
		}
		return column{}, ok
	}, columns{}.known)
	if err != nil {
		return nil, "", err
	}
	var b strings.Builder
	for _, p := range t.parts {
		b.WriteString(p.literal)
		switch p.kind {
		case none:
		case uuid:
			b.WriteString("00000000-0000-4000-8000-000000000000")
		default:
			b.WriteByte('1')
		}
	}
	return names, b.String(), nil
}

// compile compiles a text in which $$ stands for a dollar sign. It fails with a
// templateError.
func (c columns) compile(text string) (*Template, error) {
	return compileWith(text, func(name string) (column, bool) {
		found, ok := c[name]
		return found, ok
	}, c.known)
}

// compileWith compiles a text with the columns that a function finds; known lists them.
func compileWith(text string, find func(string) (column, bool), known func() string) (*Template, error) {
	t, length := &Template{}, len(text)
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
		at := length - len(after) - 1
		p, rest, err := variable(after, at, find, known)
		if err != nil {
			return nil, templateError{at, err}
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

// qualifiedName is a name behind that of a table, as other tools write a column.
var qualifiedName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,62}[.][A-Za-z_][A-Za-z0-9_]{0,62}$`)

// variable compiles what follows the single dollar sign at an index.
func variable(s string, at int, find func(string) (column, bool), known func() string) (p part, rest string, err error) {
	inside, ok := strings.CutPrefix(s, "{")
	if !ok {
		return p, "", errors.New("a single $; write $$ for a dollar sign")
	}
	name, rest, ok := strings.Cut(inside, "}")
	if !ok {
		return p, "", fmt.Errorf("the ${ at %d has no closing brace", at)
	}
	if p.kind, ok = variables[name]; ok {
		return p, rest, nil
	}
	if name, p.inJSON = strings.CutPrefix(name, "json:"); p.inJSON && reserved(name) {
		return p, "", fmt.Errorf("${json:%s}: only a column or a captured value is escaped; write ${%s}", name, name)
	}
	if p.column, ok = find(name); ok {
		if p.kind = data; p.column.table == nil {
			p.kind = captured
		}
		return p, rest, nil
	}
	bounds, ok := strings.CutPrefix(name, "rand:")
	switch {
	case !ok && columnName.MatchString(name):
		return p, "", fmt.Errorf("unknown variable ${%s}; known are %s", name, known())
	case !ok && qualifiedName.MatchString(name):
		return p, "", errQualified(name)
	case !ok:
		return p, "", fmt.Errorf("the ${ at %d has no name before its closing brace; known are %s", at, known())
	}
	p.kind = random
	p.from, p.span, err = parseRange(bounds)
	return p, rest, err
}

// errQualified says how a qualified name is written. No column has the name of a variable, which
// would be taken for it.
func errQualified(name string) error {
	_, alone, _ := strings.Cut(name, ".")
	if reserved(alone) {
		return fmt.Errorf("unknown variable ${%s}: a column or a captured value has no prefix, and must not be called %s, as a variable is; rename it", name, alone)
	}
	return fmt.Errorf("unknown variable ${%s}: a column or a captured value has no prefix; write ${%s}", name, alone)
}

// parseRange reads a-b, two integers from 0 on.
func parseRange(s string) (from int64, span uint64, err error) {
	low, high, _ := strings.Cut(s, "-") // so that low has no sign; a negative high is below it
	a, errA := strconv.ParseInt(low, 10, 64)
	b, errB := strconv.ParseInt(high, 10, 64)
	if errA != nil || errB != nil || b < a {
		return 0, 0, errors.New("${rand:a-b} must have integers 0 <= a <= b")
	}
	return a, uint64(b-a) + 1, nil
}

// literal returns the template of a text without variables.
func literal(text string) *Template { return &Template{parts: []part{{literal: text}}} }

// Append appends the text with the variables filled in. r is used for ${uuid}
// and ${rand:a-b}; rows are the chosen ones, by slot.
func (t *Template) Append(dst []byte, v Vars, r *Random, rows []int) []byte {
	for i := range t.parts {
		p := &t.parts[i]
		dst = append(dst, p.literal...)
		from := len(dst)
		dst = p.appendValue(dst, v, r, rows)
		if p.inJSON { // which may be a field of a form
			dst = escapeFrom(dst, from)
		}
		if p.encoded {
			dst = encodeFrom(dst, from)
		}
	}
	return dst
}

// appendValue appends the value of the variable, if there is one.
func (p *part) appendValue(dst []byte, v Vars, r *Random, rows []int) []byte {
	switch p.kind {
	case user:
		return strconv.AppendInt(dst, v.User, 10)
	case seq:
		return strconv.AppendInt(dst, v.Seq, 10)
	case worker:
		return strconv.AppendInt(dst, int64(v.Worker), 10)
	case uuid:
		return r.appendUUID(dst)
	case random:
		return strconv.AppendInt(dst, p.from+int64(r.below(p.span)), 10)
	case data:
		return append(dst, p.column.table.cell(rows[p.column.slot], p.column.index)...)
	case credential:
		return p.credential.Append(dst)
	case captured:
		return append(dst, v.Captured[p.column.slot]...)
	}
	return dst
}

// sample is the text with 0 for each variable.
func (t *Template) sample() (text []byte) {
	for i := range t.parts {
		text = append(text, t.parts[i].literal...)
		if t.parts[i].kind != none {
			text = append(text, '0')
		}
	}
	return text
}
