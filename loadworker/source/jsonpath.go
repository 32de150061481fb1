package source

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"

	"github.com/tidwall/gjson"

	"github.com/loadtest-dev/loadtest-operator/text"
)

// JSONPath is a path in a JSON document: names after dots and indexes in
// brackets, such as .items[0].id.
type JSONPath struct {
	text  string
	steps []pathStep
}

// pathStep selects a member of an object or, without a name, an element of an array.
type pathStep struct {
	name  string
	index int
}

var (
	pathSyntax = regexp.MustCompile(`^([.][^.\[\]\s]+|\[[0-9]{1,9}\])+$`)
	pathStepRE = regexp.MustCompile(`[.][^.\[\]]+|\[[0-9]+\]`)
)

// ParseJSONPath parses a path.
func ParseJSONPath(s string) (JSONPath, error) {
	p := JSONPath{text: s}
	if !pathSyntax.MatchString(s) {
		return p, fmt.Errorf("%q is not a path such as .items[0].id", text.Truncate(s, 256))
	}
	for _, step := range pathStepRE.FindAllString(s, -1) {
		if step[0] == '.' {
			p.steps = append(p.steps, pathStep{name: step[1:]})
			continue
		}
		index, err := strconv.Atoi(step[1 : len(step)-1])
		if err != nil {
			return p, fmt.Errorf("%q: %w", s, err)
		}
		p.steps = append(p.steps, pathStep{index: index})
	}
	return p, nil
}

// String returns the path as it was written.
func (p JSONPath) String() string { return p.text }

// maxDepth is how deep the objects and arrays of a body may be in one another. The
// library needs a piece of stack for each: a megabyte of brackets would be half a
// gigabyte of it. encoding/json has the same bound.
const maxDepth = 10_000

// parseJSON parses a body; ok is false if it is not JSON, or nested too deep.
func parseJSON(body []byte) (document gjson.Result, ok bool) {
	if depth(body) > maxDepth || !gjson.ValidBytes(body) {
		return document, false
	}
	return gjson.ParseBytes(body), true
}

// depth is how deep the brackets outside of strings are in one another, at most. Of what
// is no JSON it is no less than what a parser enters before it notices.
func depth(body []byte) (deepest int) {
	now, quoted := 0, false
	for i := 0; i < len(body); i++ {
		switch c := body[i]; {
		case c == '"':
			quoted = !quoted
		case quoted && c == '\\':
			i++
		case quoted:
		case c == '[' || c == '{':
			now++
			deepest = max(deepest, now)
		case c == ']' || c == '}':
			now--
		}
	}
	return deepest
}

// find returns the value at the path; ok is false when there is none.
func (p JSONPath) find(at gjson.Result) (found gjson.Result, ok bool) {
	for _, step := range p.steps {
		if at, ok = step.from(at); !ok {
			return at, false
		}
	}
	return at, true
}

// from follows one step. The library's own paths are not used: most characters other
// than letters have a meaning in them.
func (s pathStep) from(at gjson.Result) (to gjson.Result, ok bool) {
	if s.name == "" && !at.IsArray() || s.name != "" && !at.IsObject() {
		return to, false
	}
	i := 0
	at.ForEach(func(key, value gjson.Result) bool {
		if ok = s.name == "" && i == s.index || s.name != "" && key.Str == s.name; ok {
			to = value
		}
		i++
		return !ok
	})
	return to, ok
}

// textOf returns a value as text: a string without its quotes, anything else as JSON
// without spaces.
func textOf(r gjson.Result) string {
	switch r.Type {
	case gjson.String:
		return r.Str
	case gjson.JSON:
		var b bytes.Buffer
		if json.Compact(&b, []byte(r.Raw)) == nil {
			return b.String()
		}
	}
	return r.Raw
}
