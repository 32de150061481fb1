package source

import (
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

const document = `{"status":"ok","n":42,"f":1.50,"yes":true,"none":null,"a.b":1,"items":[{"id":"x"},{"id":"y","tags":["p","q"]}],"deep":{"list":[[1, 2],[3]]},"":5,"é\"":7}`

func TestJSONPathFind(t *testing.T) {
	tests := map[string]struct{ path, want string }{
		"a string":                      {".status", "ok"},
		"a number":                      {".n", "42"},
		"one with its digits":           {".f", "1.50"},
		"true":                          {".yes", "true"},
		"null":                          {".none", "null"},
		"an element":                    {".items[0].id", "x"},
		"another":                       {".items[1].tags[1]", "q"},
		"lists in lists":                {".deep.list[0][1]", "2"},
		"a list, without spaces":        {".deep.list[0]", "[1,2]"},
		"an object":                     {".items[0]", `{"id":"x"}`},
		"a name that is no identifier":  {`.é"`, "7"},
		"what the library would expand": {".items.#", ""},
		"no such name":                  {".other", ""},
		"no such index":                 {".items[2]", ""},
		"an index of an object":         {".deep[0]", ""},
		"a name of a list":              {".items.id", ""},
		"a name of a string":            {".status.x", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			path, err := ParseJSONPath(tt.path)
			must.Succeed(t, err)
			got, err := Document{JSON: []byte(document)}.Find(path)
			if got != tt.want || (err != nil) != (tt.want == "") {
				t.Errorf("%s = %q, %v; want %q", path, got, err, tt.want)
			}
		})
	}
	root, err := ParseJSONPath("[1].a")
	must.Succeed(t, err)
	if got, err := (Document{JSON: []byte(` [0, {"a": 5}]`)}).Find(root); got != "5" || err != nil {
		t.Errorf("%s = %q, %v; want 5", root, got, err)
	}
	if _, err := (Document{JSON: []byte(`[0, {"a": 5}`)}).Find(root); err == nil || !strings.Contains(err.Error(), "is not JSON") {
		t.Errorf("of a broken body: %v", err)
	}
}

func TestParseJSONPathRefuses(t *testing.T) {
	for _, path := range []string{"", "a", "$.a", ".a.", "..a", ".a[x]", ".a[-1]", ".a [0]", "[1234567890]", ".a[0"} {
		if _, err := ParseJSONPath(path); err == nil {
			t.Errorf("%q is a path", path)
		}
	}
}

func TestCheckBody(t *testing.T) {
	s := mustNew(t, Config{Requests: []Request{
		{Name: "none", Weight: 1, Method: "GET", Path: "/"},
		{Name: "values", Weight: 1, Method: "GET", Path: "/", Expect: Expectation{
			Status: []int32{200, 429}, JSON: []ExpectedValue{{Path: ".status", Equals: "ok"}, {Path: ".n", Equals: "42"}},
		}},
		{Name: "size", Weight: 1, Method: "GET", Path: "/", Expect: Expectation{MaxBytes: 10}},
	}})
	long := strings.Repeat("x", 500)
	tests := map[string]struct {
		request, status int
		body            string
		size            int64
		want            string
	}{
		"nothing is expected":         {0, 200, "", 1 << 40, ""},
		"as it should be":             {1, 200, document, 0, ""},
		"another value":               {1, 200, `{"status":"down","n":42}`, 0, `.status: a string of 4 bytes instead of "ok"`},
		"a value that is long":        {1, 200, `{"status":"` + long + `"}`, 0, `.status: a string of 500 bytes instead of "ok"`},
		"no value":                    {1, 200, `{"status":"ok"}`, 0, `.n: the body of 15 bytes has none; "42" is expected`},
		"a string is no number":       {1, 200, `{"status":"ok","n":42.0}`, 0, `.n: a number of 4 bytes instead of "42"`},
		"no JSON":                     {1, 200, "<html>", 0, `the body of 6 bytes is not JSON, wrong at byte 1; it looks like text/html`},
		"half of it":                  {1, 200, `{"status":"ok","n":42`, 0, "the body of 21 bytes is not JSON, wrong at byte 21"},
		"no body":                     {1, 200, "", 0, "the body is empty, and JSON is expected"},
		"more than is looked at":      {1, 200, document, 2 << 20, "body of 2097152 bytes, of which the worker reads only"},
		"a limiter's body is its own": {1, 429, "slow down", 0, ""},
		"small enough":                {2, 200, "", 10, ""},
		"too large":                   {2, 200, "", 11, "body of 11 bytes, at most 10 are expected"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if tt.size == 0 {
				tt.size = int64(len(tt.body))
			}
			err := s.CheckBody(tt.request, &transport.Response{Status: tt.status, Size: tt.size, Body: []byte(tt.body)})
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("CheckBody = %v, want %q", err, tt.want)
			}
		})
	}
}

// A body is kept only if it is searched for values.
func TestBodiesAreKeptOnlyForExpectedValues(t *testing.T) {
	s := mustNew(t, Config{Requests: []Request{
		{Name: "size", Weight: 1, Method: "GET", Path: "/", Expect: Expectation{MaxBytes: 10}},
		{Name: "values", Weight: 1, Method: "GET", Path: "/", Expect: Expectation{JSON: []ExpectedValue{{Path: ".a", Equals: "b"}}}},
	}})
	var b Buffer
	s.Render(&b, 1, Vars{})
	if b.Request.Keep != 1<<20 {
		t.Errorf("keeps %d bytes to look for values, want 1 MiB", b.Request.Keep)
	}
	s.Render(&b, 0, Vars{})
	if b.Request.Keep != 0 {
		t.Errorf("keeps %d bytes although only the size matters", b.Request.Keep)
	}
}

func TestCheck(t *testing.T) {
	const same = ""
	tests := map[string]struct {
		expect Expectation
		answer transport.Response
		want   string
	}{
		"as expected":                   {Expectation{}, transport.Response{Status: 299}, same},
		"a status beyond the default":   {Expectation{}, transport.Response{Status: 400}, "status 400 Bad Request instead of 200 to 299"},
		"a redirect":                    {Expectation{}, transport.Response{Status: 308}, "status 308 Permanent Redirect instead of 200 to 299; a redirect is not followed: add that status to expect.status, or send to the address that it names"},
		"a redirect that is listed":     {Expectation{Status: []int32{308}}, transport.Response{Status: 308}, same},
		"one of several":                {Expectation{Status: []int32{200, 204}}, transport.Response{Status: 204}, same},
		"none of several":               {Expectation{Status: []int32{200, 204}}, transport.Response{Status: 201}, "status 201 Created instead of 200 or 204"},
		"a body that is too large":      {Expectation{MaxBytes: 1}, transport.Response{Status: 200, Size: 2}, "body of 2 bytes, at most 1 are expected"},
		"an expected 429, its body too": {Expectation{Status: []int32{429}, MaxBytes: 1}, transport.Response{Status: 429, Size: 2}, "body of 2 bytes, at most 1 are expected"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s, err := New(Config{Requests: []Request{{Name: "r", Weight: 1, Method: "GET", Path: "/", Expect: tt.expect}}})
			must.Succeed(t, err)
			got := same
			if err := s.Check(0, &tt.answer); err != nil {
				got = err.Error()
			}
			if got != tt.want {
				t.Errorf("Check = %q, want %q", got, tt.want)
			}
		})
	}
}

func TestRequestCheckNamesTheMistake(t *testing.T) {
	tests := map[string]struct {
		request Request
		want    string
	}{
		"a known variable": {Request{Method: "GET", Path: "/${uuid}"}, ""},
		"a column":         {Request{Method: "GET", Path: "/${code}"}, "path: unknown variable ${code}"},
		"no path":          {Request{Method: "GET"}, `path: must begin with a slash`},
		"a value's path":   {Request{Method: "GET", Path: "/", Expect: Expectation{JSON: []ExpectedValue{{Path: "x"}}}}, `expect.json[0].path: "x" is not a path`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if err := tt.request.Check(); (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Check = %v, want …%s…", err, tt.want)
			}
		})
	}
}
