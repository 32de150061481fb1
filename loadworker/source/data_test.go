package source

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func TestRenderUsesOneRowForAWholeRequest(t *testing.T) {
	people := rows(t, Uniform, "name,city", "Ada,London", "Blaise,Rouen", "Carl,Brunswick")
	codes := rows(t, Zipf, "code", "x1", "x2")
	s := mustNew(t, Config{Tables: []*Table{codes, people}, Requests: []Request{{
		Name: "r", Weight: 1, Method: "POST", Path: "/${name}/${code}", Body: "${city} ${name} ${code}",
		Headers: []Header{{Name: "X-City", Value: "${city}"}},
	}}})
	cities := map[string]string{"Ada": "London", "Blaise": "Rouen", "Carl": "Brunswick"}
	seen := map[string]bool{}
	var b Buffer
	for seq := range int64(100) {
		// The order of a user's request, which a sequential table would use.
		s.Render(&b, 0, Vars{Seq: seq, Order: Order{By: 1, N: seq, Streams: 1}})
		name, code, _ := strings.Cut(strings.TrimPrefix(string(b.Request.Path), "/"), "/")
		city := string(b.Request.Headers[0].Value)
		if want := cities[name] + " " + name + " " + code; string(b.Request.Body) != want || city != cities[name] {
			t.Errorf("path %s, header %s, body %s: of several rows", b.Request.Path, city, b.Request.Body)
		}
		seen[name] = true
	}
	if len(seen) != 3 {
		t.Errorf("of 100 requests only %v were taken", seen)
	}
}

// The same numbers give the same request, in any order and with any buffer.
func TestTheSameSeedGivesTheSameRequests(t *testing.T) {
	render := func(seed int64, order []int64) map[int64]string {
		s := mustNew(t, Config{Seed: seed, Tables: []*Table{rows(t, Zipf, "a", "1", "2", "3", "4", "5", "6", "7")}, Requests: []Request{
			{Name: "r", Weight: 1, Method: "GET", Path: "/${a}/${rand:1-1000}/${uuid}"},
		}})
		out := map[int64]string{}
		buffers := make([]Buffer, 3)
		for i, seq := range order {
			b := &buffers[i%3]
			s.Render(b, 0, Vars{Seq: seq, Step: 2})
			out[seq] = string(b.Request.Path)
		}
		return out
	}
	want := render(1, []int64{0, 1, 2, 3, 4, 5})
	same.As(t, "in another order", want, render(1, []int64{5, 3, 1, 4, 2, 0}))
	if cmp.Equal(want, render(2, []int64{0, 1, 2, 3, 4, 5})) {
		t.Error("another seed gives the same requests")
	}
}

// The rows of a request follow from its number, not from the column that its texts
// name first.
func TestRowsDoNotDependOnTheOrderOfVariables(t *testing.T) {
	rendered := func(path string) (names, codes []string) {
		tables := []*Table{rows(t, Uniform, "name", "a", "b", "c", "d", "e"), rows(t, Uniform, "code", "1", "2", "3", "4", "5", "6", "7"), rows(t, Uniform, "odd", "x")}
		s := mustNew(t, Config{Tables: tables, Requests: []Request{{Name: "r", Weight: 1, Method: "POST", Path: path, Body: "${name} ${code}"}}})
		var b Buffer
		for seq := range int64(50) {
			s.Render(&b, 0, Vars{Seq: seq})
			name, code, _ := strings.Cut(string(b.Request.Body), " ")
			names, codes = append(names, name), append(codes, code)
		}
		return names, codes
	}
	names, codes := rendered("/${name}/${code}/${odd}")
	for _, path := range []string{"/${code}/${name}/${odd}", "/${odd}/${code}/${name}", "/${odd}/${name}/${code}/${odd}"} {
		gotNames, gotCodes := rendered(path)
		if !slices.Equal(names, gotNames) || !slices.Equal(codes, gotCodes) {
			t.Errorf("%s takes other rows", path)
		}
	}
}

func TestNewRefusesBadData(t *testing.T) {
	table := func(lines ...string) *Table { return rows(t, Uniform, lines...) }
	tests := map[string]struct {
		request Request
		tables  []*Table
		want    string
	}{
		"an unknown column": {Request{Path: "/${zip}"}, []*Table{table("name,city", "Ada,London")},
			`request "r": path: unknown variable ${zip}; known are ${user}, ${seq}, ${worker}, ${uuid}, ${rand:a-b}, the columns of spec.data; write $$ for a dollar sign`},
		"a column of two tables": {Request{Path: "/"}, []*Table{table("a,b", "1,2"), table("c,b", "1,2")},
			`data "d", file d.csv: column 2 has the same name as a column of data "d", file d.csv`},
		"a space in a path": {Request{Path: "/${a}"}, []*Table{table("a", "ok", "not ok")},
			`data "d", file d.csv, line 3: column "a": the character at 3 must be percent-encoded, as it stands in a path`},
		"a space at the beginning": {Request{Path: "/${a}"}, []*Table{table("a", "\" x\"")}, `column "a": the character at 0 must be percent-encoded`},
		"a control in a path":      {Request{Path: "/${a}"}, []*Table{table("a", "x\x7f")}, `column "a": the character at 1 must be percent-encoded`},
		"one in a column that is in the body, too": {Request{Path: "/${a}", Body: "${a}", Headers: []Header{{Name: "X", Value: "${a}"}}}, []*Table{table("a", "not ok")},
			`column "a": the character at 3 must be percent-encoded`},
		"a line break in a header": {Request{Path: "/", Headers: []Header{{Name: "X", Value: "${a}"}}}, []*Table{table("a", "\"x\r\nY: z\"")},
			`data "d", file d.csv, line 2: column "a": holds a control character, and stands in a header`},
		"a path that is none": {Request{Path: "/", Expect: Expectation{JSON: []ExpectedValue{{Path: "$.a"}}}}, nil,
			`request "r": expect.json[0].path: "$.a" is not a path`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tt.request.Name, tt.request.Weight, tt.request.Method = "r", 1, "GET"
			_, err := New(Config{Requests: []Request{tt.request}, Tables: tt.tables})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("New = %v\nwant …%s…", err, tt.want)
			}
		})
	}
}

// A body may hold any text; rows are checked whether they were added before New or
// after it.
func TestRowsAreCheckedForTheirPosition(t *testing.T) {
	table, err := NewTable("setup.fill", []string{"code"}, Uniform)
	must.Succeed(t, err)
	must.Succeed(t, table.Add([]string{"a b\r\n#"}))
	inBody := Request{Name: "r", Weight: 1, Method: "POST", Path: "/", Body: "${code}"}
	s := mustNew(t, Config{Requests: []Request{inBody}, Tables: []*Table{table}})
	if !s.Takes(0, table) || s.Takes(0, rows(t, Uniform, "other", "1")) {
		t.Error("the request is said to take other rows than it does")
	}
	inPath := Request{Name: "r", Weight: 1, Method: "GET", Path: "/${code}"}
	_, err = New(Config{Requests: []Request{inPath}, Tables: []*Table{table}})
	if want := `setup.fill: column "code": the character at 1 must be percent-encoded, as it stands in a path`; err == nil || err.Error() != want {
		t.Errorf("New = %v, want %s", err, want)
	}
	other, _ := NewTable("setup.fill", []string{"code"}, Uniform)
	mustNew(t, Config{Requests: []Request{inPath}, Tables: []*Table{other}})
	if err := other.Add([]string{"a b"}); err == nil {
		t.Error("a row with a space was added to a table whose rows stand in paths")
	}
}

func TestALiteralHeaderIsNoTemplate(t *testing.T) {
	s := mustNew(t, Config{Requests: []Request{{Name: "r", Weight: 1, Method: "GET", Path: "/", Headers: []Header{
		{Name: "Authorization", Value: "Basic $${user}", Literal: true},
	}}}})
	var b Buffer
	s.Render(&b, 0, Vars{})
	if got := string(b.Request.Headers[0].Value); got != "Basic $${user}" {
		t.Errorf("header %q, want it as it was written", got)
	}
}
