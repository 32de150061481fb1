package source

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
)

// A text that compiles can be rendered, and without variables renders as itself.
func FuzzCompile(f *testing.F) {
	for _, seed := range []string{"", "$", "$$", "${user}", "${rand:1-2}", "${rand:", "a$${seq}", "${uuid", "${}", "${name}${city}", "${rand:0-9223372036854775807}"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		table := rows(t, Uniform, "name,city", "Ada,London")
		known := columns{"name": {table: table}, "city": {table: table, index: 1}}
		template, err := known.compile(text)
		if err != nil {
			if !strings.Contains(text, "$") {
				t.Errorf("%q has no variable and does not compile: %v", text, err)
			}
			return
		}
		var r Random
		r.begin(1, 2, 3)
		out := string(template.Append(nil, Vars{User: 1, Seq: 2, Worker: 3}, &r, []int{0}))
		if !strings.Contains(text, "$") && out != text {
			t.Errorf("%q has no variable but renders as %q", text, out)
		}
		if strings.Contains(out, "${name}") && !strings.Contains(text, "$$") {
			t.Errorf("%q renders as %q: a variable is left", text, out)
		}
	})
}

// Reading any text ends, and its rows can be rendered.
func FuzzReadTable(f *testing.F) {
	f.Add("a,b\n1,2\n", true)
	f.Add(`{"a":1,"b":"x"}`, false)
	f.Add("a\n\"\n\n", true)
	f.Add("{}\n[]\n", false)
	f.Fuzz(func(t *testing.T, text string, csv bool) {
		file := File{Name: "d", Path: "f", Format: JSONLines, Workers: 1}
		if csv {
			file.Format = CSV
		}
		table, err := ReadTable(strings.NewReader(text), file)
		if err != nil {
			if !strings.HasPrefix(err.Error(), `data "d", file f`) {
				t.Errorf("the error names neither data nor file: %v", err)
			}
			return
		}
		for row := range table.Rows() {
			for column := range table.columns {
				_ = table.cell(row, column)
			}
		}
	})
}

// A value is found where encoding/json finds it, and nothing is JSON here that is not
// there.
func FuzzJSONPath(f *testing.F) {
	for _, seed := range [][2]string{
		{".id", `{"id":42}`}, {".items[1].id", `{"items":[{"id":"a"},{"id":"b\n"}]}`}, {"[0][0]", `[[null]]`},
		{".a", `{"a":1,"a":2}`}, {".a", `{"\u0061":{"b" : [ 1 ]}}`}, {"[3]", `[1,2]`}, {".a.b", `{"a":"b"}`},
		{".a", `{"a":1} x`}, {"", ""}, {".a", strings.Repeat(`{"a":`, 99)}, {".x", `{"x":-0.5e+7}`}, {".\"", `{"\"":true}`},
	} {
		f.Add(seed[0], []byte(seed[1]))
	}
	f.Fuzz(func(t *testing.T, text string, body []byte) {
		path, err := ParseJSONPath(text)
		if err != nil {
			return
		}
		got, err := Document{JSON: body}.Find(path)
		if !json.Valid(body) {
			if err == nil {
				t.Errorf("%q is no JSON and has %s %q", body, text, got)
			}
			return
		}
		want, found := walk(path, body)
		if found != (err == nil) || found && want != got {
			t.Errorf("%s of %q: %q, %v; encoding/json has %q, %t", text, body, got, err, want, found)
		}
	})
}

// walk follows a path by encoding/json. Of two members of a name it takes the first.
func walk(p JSONPath, document json.RawMessage) (value string, ok bool) {
	for _, step := range p.steps {
		if document, ok = enter(step, document); !ok {
			return "", false
		}
	}
	document = bytes.TrimSpace(document)
	if document[0] == '"' {
		err := json.Unmarshal(document, &value)
		return value, err == nil
	}
	var compact bytes.Buffer
	err := json.Compact(&compact, document)
	return compact.String(), err == nil
}

func enter(step pathStep, document json.RawMessage) (to json.RawMessage, ok bool) {
	in := json.NewDecoder(bytes.NewReader(document))
	opening, err := in.Token()
	if err != nil || step.name == "" && opening != json.Delim('[') || step.name != "" && opening != json.Delim('{') {
		return nil, false
	}
	for i := 0; in.More(); i++ {
		var name json.Token
		if step.name != "" {
			if name, err = in.Token(); err != nil {
				return nil, false
			}
		}
		to = nil
		if in.Decode(&to) != nil {
			return nil, false
		}
		if step.name == "" && i == step.index || step.name != "" && name == step.name {
			return to, true
		}
	}
	return nil, false
}

// canary is what no error may show of a body.
const canary = "canary"

// Any response is expected or not, in an error of some lines, which shows nothing of the
// body.
func FuzzExpectation(f *testing.F) {
	f.Add("200", ".a", "1", int64(10), 200, []byte(`{"a":1}`), int64(7))
	f.Add("", ".a", "1", int64(0), 200, []byte(`{"a":"canary"}`), int64(14))
	f.Add("", ".a", "1", int64(0), 200, []byte(`canary`), int64(6))
	f.Add("", ".a", "1", int64(0), 200, []byte(`{"canary":[{}`), int64(13))
	f.Add("404 410", "[0]", "", int64(1), 404, []byte(`[`), int64(1<<40))
	f.Fuzz(func(t *testing.T, codes, path, equals string, most int64, status int, body []byte, size int64) {
		e := Expectation{JSON: []ExpectedValue{{Path: path, Equals: equals}}, MaxBytes: most}
		for code := range strings.FieldsSeq(codes) {
			if n, err := strconv.ParseInt(code, 10, 32); err == nil {
				e.Status = append(e.Status, int32(n))
			}
		}
		compiled, err := e.compile()
		if err != nil {
			return
		}
		s := &Source{requests: []request{{expect: compiled}}}
		err = s.Check(0, &transport.Response{Status: status, Size: max(size, int64(len(body))), Body: body})
		switch {
		case err == nil:
		case len(err.Error()) > 2000+len(codes)*16+len(path):
			t.Errorf("an error of %d bytes", len(err.Error()))
		case !strings.Contains(path+equals, canary) && strings.Contains(err.Error(), canary):
			t.Errorf("%q is in the error: %v", body, err)
		}
	})
}
