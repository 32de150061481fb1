package source

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/textproto"
	"regexp"
	"slices"
	"time"

	"github.com/tidwall/gjson"
	"golang.org/x/net/http/httpguts"

	"github.com/loadtest-dev/loadtest-operator/expression"
	"github.com/loadtest-dev/loadtest-operator/loadworker/failure"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/selector"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// Capture is where a value of a response is that is no JSON.
type Capture struct {
	// Name is the one under which later requests have the value.
	Name string
	// Header and Cookie are names, of which at most one is set; with neither the value is in
	// the body. A cookie is that of the user, whichever response of the journey has set it.
	Header, Cookie string
	// Match is a regular expression of package regexp; the value is what its first group
	// matches. Empty: the whole header, cookie or what is selected.
	Match string
	// Select is a selector of package selector: the value is in the Attribute of the first element that it
	// matches, or in its text.
	Select, Attribute string
}

// maxCaptured bounds a captured value: a token of a few claims and a signature has
// some 1,000 bytes, and servers refuse headers of more than 8,000.
const maxCaptured = 4096

// capture is a value of a response that is kept: what path finds, unless one of the others is set.
type capture struct {
	name           string
	slot           int
	path           JSONPath
	header, cookie string
	match          *regexp.Regexp
	selector       *selector.Selector
	attribute      string
}

func (c *capture) isJSON() bool {
	return c.header == "" && c.cookie == "" && c.match == nil && c.selector == nil
}

// readsBody says whether the value is in the body.
func (c *capture) readsBody() bool { return c.header == "" && c.cookie == "" }

// place describes where the value is.
func (c *capture) place() string {
	switch {
	case c.isJSON():
		return "at " + c.path.String()
	case c.header != "":
		return "of header " + c.header
	case c.cookie != "":
		return "of cookie " + c.cookie
	}
	return "in the body"
}

// compileMatch compiles the regular expression of a capture, which must have a group.
func compileMatch(match string) (*regexp.Regexp, error) {
	re, err := regexp.Compile(match)
	switch {
	case err != nil:
		return nil, err // it says what is wrong, and shows the part
	case re.NumSubexp() == 0:
		return nil, errors.New(`must have a group, whose match is kept, such as value="([^"]+)"`)
	}
	return re, nil
}

// capturedNames are the names of a step's captures: first those of JSON, sorted.
func (s *JourneyStep) capturedNames() []string {
	names := slices.Sorted(maps.Keys(s.Capture))
	for i := range s.CaptureFrom {
		names = append(names, s.CaptureFrom[i].Name)
	}
	return names
}

// compileCaptures compiles the captures of a step, in the order of their names.
func (s *JourneyStep) compileCaptures() (list []capture, err error) {
	for _, name := range slices.Sorted(maps.Keys(s.Capture)) {
		path, err := ParseJSONPath(s.Capture[name])
		if err != nil {
			return nil, fmt.Errorf("capture.%s: %w", name, err)
		}
		list = append(list, capture{name: name, path: path})
	}
	for i := range s.CaptureFrom {
		c, err := s.CaptureFrom[i].compile()
		if _, twice := s.Capture[c.name]; err == nil && twice {
			err = errors.New("is a name of capture too")
		}
		if err != nil {
			return nil, fmt.Errorf("captureFrom.%s: %w", text.Truncate(s.CaptureFrom[i].Name, 63), err)
		}
		list = append(list, c)
	}
	return list, nil
}

func (c *Capture) compile() (out capture, err error) {
	out = capture{name: c.Name, header: textproto.CanonicalMIMEHeaderKey(c.Header), cookie: c.Cookie, attribute: c.Attribute}
	switch {
	case c.Select != "" && c.Header+c.Cookie != "":
		return out, errors.New("has a selector, which is of the body, and a header or a cookie; leave out one of them")
	case c.Select == "" && c.Attribute != "":
		return out, errors.New("has an attribute without a selector")
	case c.Header != "" && c.Cookie != "":
		return out, errors.New("has a header and a cookie; leave out one of them")
	case c.Header+c.Cookie+c.Match+c.Select == "":
		return out, errors.New("has neither a header, nor a cookie, nor a selector, nor a match")
	case c.Header != "" && !httpguts.ValidHeaderFieldName(c.Header):
		return out, fmt.Errorf("header: %q is not a header name", text.Truncate(c.Header, 63))
	}
	if c.Select != "" {
		if out.selector, err = selector.Compile(c.Select); err != nil {
			return out, fmt.Errorf("select: %w", err)
		}
	}
	if c.Match != "" {
		if out.match, err = compileMatch(c.Match); err != nil {
			return out, fmt.Errorf("match: %w", err)
		}
	}
	return out, nil
}

// captureInput is the expected response to a request of a journey, from which values are captured.
type captureInput struct {
	request  *request
	response *transport.Response
	json     Document     // read when it is needed first
	document gjson.Result // likewise
}

// capture keeps the values of a response. Its error is why one cannot be.
func (w *Walk) capture(captures []capture, a *captureInput) error {
	if slices.ContainsFunc(captures, func(c capture) bool { return c.readsBody() }) {
		if err := a.request.checkWhole(a.response); err != nil {
			return fmt.Errorf("capture: %w", err)
		}
	}
	for i := range captures {
		c := &captures[i]
		value, kind, err := w.find(c, a)
		if err != nil {
			return err
		}
		if err := w.keep(c.slot, value, kind); err != nil {
			return failure.Withhold(value, "capture.%s: the value %s %w", c.name, c.place(), err)
		}
	}
	return nil
}

// find returns the value of a capture, and what it is.
func (w *Walk) find(c *capture, a *captureInput) (string, expression.Kind, error) {
	if c.isJSON() {
		return a.findJSON(c)
	}
	value, err := w.findText(c, a)
	return value, expression.String, err
}

// findText returns the value of a capture that is no JSON.
func (w *Walk) findText(c *capture, a *captureInput) (string, error) {
	value := a.response.Body
	switch {
	case c.header != "":
		field, ok := transport.Field(a.response.Fields, c.header)
		if !ok {
			return "", fmt.Errorf("capture.%s: the response has no header %s", c.name, c.header)
		}
		value = field
	case c.cookie != "":
		own, ok := w.jars[w.target].Value(c.cookie, time.Now())
		if !ok {
			return "", fmt.Errorf("capture.%s: the user has no cookie %s", c.name, c.cookie)
		}
		value = own
	case c.selector != nil:
		found, err := c.selector.Find(value, c.attribute)
		if err != nil {
			return "", fmt.Errorf("capture.%s: the body of %d bytes: %w", c.name, len(value), err)
		}
		value = []byte(found)
	}
	if c.match == nil {
		return string(value), nil
	}
	at := c.match.FindSubmatchIndex(value)
	if at == nil || at[2] < 0 {
		where := cmp.Or(c.header, c.cookie, "body")
		return "", failure.Withhold(value, "capture.%s: the %s of %d bytes has no match of %s", c.name, where, len(value), c.match)
	}
	return string(value[at[2]:at[3]]), nil
}

func (a *captureInput) findJSON(c *capture) (string, expression.Kind, error) {
	if a.json.name == "" {
		d, err := a.request.document(a.response)
		if err != nil {
			return "", expression.None, fmt.Errorf("capture: %w", err)
		}
		var ok bool
		if a.document, ok = parseJSON(d.JSON); !ok {
			return "", expression.None, fmt.Errorf("capture: %w", d.notJSON())
		}
		a.json = d
	}
	value, ok := c.path.find(a.document)
	if !ok || value.Raw == "null" {
		return "", expression.None, fmt.Errorf("capture.%s: %w", c.name, a.json.lacks(c.path))
	}
	return textOf(value), kindOfValue(value), nil
}

// kindOfValue is what a value of JSON is.
func kindOfValue(r gjson.Result) expression.Kind {
	switch r.Type {
	case gjson.String:
		return expression.String
	case gjson.Number:
		return expression.Number
	case gjson.True, gjson.False:
		return expression.Bool
	case gjson.JSON:
		return expression.Composite
	}
	return expression.None
}

// keep keeps a value, unless it would break a request that uses it.
func (w *Walk) keep(slot int, value string, kind expression.Kind) error {
	if len(value) > maxCaptured {
		return fmt.Errorf("has %d bytes, at most %d are kept", len(value), maxCaptured)
	}
	if err := w.source.strictest[slot].check(value); err != nil {
		return err
	}
	if w.values == nil {
		w.values = make([][]byte, len(w.source.strictest))
		w.kinds = make([]expression.Kind, len(w.values))
	}
	w.kinds[slot] = kind
	w.values[slot] = append(w.values[slot][:0], value...)
	return nil
}
