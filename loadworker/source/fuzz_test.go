package source

import (
	"strings"
	"testing"
)

// A text that compiles can be rendered, and without variables renders as itself.
func FuzzCompile(f *testing.F) {
	for _, seed := range []string{
		"", "$", "$$", "${user}", "${rand:1-2}", "${rand:", "a$${seq}", "${uuid", "${}", "${name}${city}", "${rand:0-9223372036854775807}",
	} {
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
