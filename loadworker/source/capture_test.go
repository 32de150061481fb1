package source

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/loadworker/failure"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/pace"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// page is a mix of a journey that captures values of a page, and sends them.
func page(captures ...Capture) Config {
	return Config{
		Requests: []Request{
			{Name: "page", Method: "GET", Path: "/page"},
			{Name: "send", Method: "POST", Path: "/send", Headers: []Header{{Name: "X-Token", Value: "${csrf}"}}, Body: "${csrf}"},
		},
		Journeys: []Journey{{Name: "j", Weight: 1, Steps: []JourneyStep{{Request: 0, Times: 1, CaptureFrom: captures}, {Request: 1, Times: 1}}}},
	}
}

func TestValuesThatAreNoJSONAreCaptured(t *testing.T) {
	const html = "<p>a&b</p>\n<input name=\"csrf\" value=\"t-1\">\n<input name=\"csrf\" value=\"t-2\">"
	const field = `name="csrf" value="([^"]*)"`
	response := transport.Response{
		Status: 200, Size: int64(len(html)), Body: []byte(html), SetCookies: []byte("other=0\ncsrf=c1; Path=/a\ncsrf=c2; HttpOnly"),
		Fields: []byte("X-Csrf:h1\nX-Csrf:h2\nLocation:/cb?code=42&state=s\n"),
	}
	for name, tt := range map[string]struct {
		capture Capture
		want    string // the value, or after "!" the error
	}{
		"a header":                           {Capture{Header: "x-csrf"}, "h1"},
		"a part of a header":                 {Capture{Header: "Location", Match: `[?&]code=([^&]+)`}, "42"},
		"a header that is missing":           {Capture{Header: "X-Other"}, "!capture.csrf: the response has no header X-Other"},
		"a part that a header does not have": {Capture{Header: "Location", Match: "(secret)"}, "!capture.csrf: the Location of 19 bytes has no match of (secret)"},
		"a cookie":                           {Capture{Cookie: "csrf"}, "c2"},
		"a part of a cookie":                 {Capture{Cookie: "csrf", Match: "c(.)"}, "2"},
		"a cookie that is missing":           {Capture{Cookie: "CSRF"}, "!capture.csrf: the user has no cookie CSRF"},
		"an attribute of an element":         {Capture{Select: "input[name=csrf]", Attribute: "value"}, "t-1"},
		"the text of an element":             {Capture{Select: "p"}, "a&b"},
		"a part of an element":               {Capture{Select: "input", Attribute: "value", Match: "t-(.)"}, "1"},
		"an element that is missing":         {Capture{Select: "form input"}, "!capture.csrf: the body of 74 bytes: no element matches the selector"},
		"an attribute that is missing":       {Capture{Select: "input", Attribute: "id"}, "!capture.csrf: the body of 74 bytes: the element has no such attribute"},
		"a part that an element has not":     {Capture{Select: "p", Match: "(x)"}, "!capture.csrf: the body of 3 bytes has no match of (x)"},
		"a part of the body":                 {Capture{Match: field}, "t-1"},
		"an empty part":                      {Capture{Match: `<p>(x*)`}, ""},
		"a part that the body has not":       {Capture{Match: "(t-3)"}, "!capture.csrf: the body of 74 bytes has no match of (t-3)"},
		"a group that has no part":           {Capture{Match: "<p>|(t-1)"}, "!capture.csrf: the body of 74 bytes has no match of <p>|(t-1)"},
		"two lines, for a header":            {Capture{Match: "(?s)(a&b.*)"}, "!capture.csrf: the value in the body holds a control character, and stands in a header"},
	} {
		t.Run(name, func(t *testing.T) {
			tt.capture.Name = "csrf"
			s := mustNew(t, page(tt.capture))
			w := s.NewWalk(1, 0, 1)
			var b Buffer
			w.Render(&b, Vars{})
			r := response
			err := w.Answer(&r)
			if wrong, isError := strings.CutPrefix(tt.want, "!"); isError {
				if got := failure.Message(err, false); got != wrong {
					t.Errorf("got %s\nwant %s", got, wrong)
				}
				return
			}
			must.Succeed(t, err)
			w.Next(true, pace.NewDraws(1, 0))
			w.Render(&b, Vars{})
			if string(b.Request.Body) != tt.want {
				t.Errorf("the next request has %q, want %q", b.Request.Body, tt.want)
			}
		})
	}
}

// No more is asked of a client than the captures need.
func TestWhatIsKeptOfAResponseForItsCaptures(t *testing.T) {
	for name, tt := range map[string]struct {
		captures []Capture
		keep     int
		fields   []string
	}{
		"a header": {[]Capture{{Name: "csrf", Header: "x-csrf"}}, 0, []string{"X-Csrf"}},
		"a cookie": {[]Capture{{Name: "csrf", Cookie: "c"}}, 0, nil},
		"the body": {[]Capture{{Name: "csrf", Match: "(a)"}, {Name: "b", Header: "B", Match: "(a)"}}, maxBody, []string{"B"}},
	} {
		s := mustNew(t, page(tt.captures...))
		w := s.NewWalk(1, 0, 1)
		var b Buffer
		w.Render(&b, Vars{})
		if b.Request.Keep != tt.keep || !slices.Equal(b.Request.KeepFields, tt.fields) {
			t.Errorf("%s: keeps %d bytes and %s, want %d and %s", name, b.Request.Keep, b.Request.KeepFields, tt.keep, tt.fields)
		}
		must.Succeed(t, w.Answer(&transport.Response{Status: 200, Size: 1, Body: []byte("a"), SetCookies: []byte("c=1"), Fields: []byte("X-Csrf:1\nB:a\n")}))
		w.Next(true, pace.NewDraws(1, 0))
		if w.Render(&b, Vars{}); len(b.Request.KeepFields) > 0 {
			t.Errorf("%s: the next request keeps %s", name, b.Request.KeepFields)
		}
	}
}

func TestABodyThatIsNotWholeIsNotSearched(t *testing.T) {
	s := mustNew(t, page(Capture{Name: "csrf", Match: "(a)"}))
	w := s.NewWalk(1, 0, 1)
	w.Render(&Buffer{}, Vars{})
	err := w.Answer(&transport.Response{Status: 200, Size: 2 << 20, Body: []byte("a")})
	if want := "capture: body of 2097152 bytes, of which the worker reads only 1"; fmt.Sprint(err) != want {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestCapturesWithoutAPlaceAreRefused(t *testing.T) {
	for want, capture := range map[string]Capture{
		"captureFrom.csrf: has a header and a cookie; leave out one of them":        {Name: "csrf", Header: "A", Cookie: "a"},
		"captureFrom.csrf: has neither a header, nor a cookie, nor a selector, nor": {Name: "csrf"},
		"captureFrom.csrf: has a selector, which is of the body, and a header or a": {Name: "csrf", Select: "p", Cookie: "a"},
		"captureFrom.csrf: has an attribute without a selector":                     {Name: "csrf", Match: "(a)", Attribute: "a"},
		"captureFrom.csrf: select: has ':': elements are named by tag, #id, .class": {Name: "csrf", Select: "a:has(b)"},
		`captureFrom.csrf: header: "a b" is not a header name`:                      {Name: "csrf", Header: "a b"},
		"captureFrom.csrf: match: error parsing regexp: missing closing ): `(`":     {Name: "csrf", Match: "("},
		"captureFrom.csrf: match: must have a group, whose match is kept, such as ": {Name: "csrf", Header: "A", Match: "a"},
		`journey "j": capture "a b": is not a name: use letters, digits and _`:      {Name: "a b", Header: "A"},
	} {
		if _, err := New(page(capture)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v\nwant %s", err, want)
		}
	}
	c := page(Capture{Name: "csrf", Header: "A"})
	c.Journeys[0].Steps[0].Capture = map[string]string{"csrf": ".csrf"}
	if _, err := New(c); err == nil || !strings.Contains(err.Error(), "captureFrom.csrf: is a name of capture too") {
		t.Error(err)
	}
}
