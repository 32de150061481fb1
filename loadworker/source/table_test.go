package source

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// rows returns a table of CSV lines.
func rows(t testing.TB, choice Choice, lines ...string) *Table {
	t.Helper()
	table, err := ReadTable(strings.NewReader(strings.Join(lines, "\n")), File{Name: "d", Path: "d.csv", Choice: choice, Workers: 1})
	must.Succeed(t, err)
	return table
}

// cells returns all rows of a table, their cells joined by a bar.
func cells(t *Table) []string {
	var list []string
	for row := range t.Rows() {
		var line []string
		for column := range t.columns {
			line = append(line, string(t.cell(row, column)))
		}
		list = append(list, strings.Join(line, "|"))
	}
	return list
}

func TestReadTable(t *testing.T) {
	tests := map[string]struct {
		format Format
		text   string
		worker int32
		want   []string
	}{
		"lines":                         {CSV, "a,b\n1,2\n3,4\n5,6\n", 0, []string{"1|2", "5|6"}},
		"those of the other worker":     {CSV, "a,b\n1,2\n3,4\n5,6\n", 1, []string{"3|4"}},
		"quotes and line breaks":        {CSV, "a,b\r\n\"x, y\",\"two\nlines\"\r\n", 0, []string{"x, y|two\nlines"}},
		"a byte order mark":             {CSV, "\ufeffa,b\n1,2", 0, []string{"1|2"}},
		"the longest name of a column":  {CSV, strings.Repeat("a", 63) + ",_\n1,2", 0, []string{"1|2"}},
		"empty values":                  {CSV, "a,b\n,\n", 0, []string{"|"}},
		"objects":                       {JSONLines, "{\"b\":\"x\",\"a\":1}\n\n{\"a\":2,\"b\":\"\"}\n{\"a\":3.50,\"b\":\"\\u00e9\"}", 0, []string{"1|x", "3.50|é"}},
		"true, false, null":             {JSONLines, `{"a":true,"b":null}`, 0, []string{"true|null"}},
		"numbers keep all their digits": {JSONLines, `{"a":12345678901234567890,"b":1e400}`, 0, []string{"12345678901234567890|1e400"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			table, err := ReadTable(strings.NewReader(tt.text), File{Name: "d", Path: "f", Format: tt.format, Worker: tt.worker, Workers: 2})
			must.Succeed(t, err)
			same.As(t, "rows", tt.want, cells(table))
		})
	}
}

func TestReadTableRefuses(t *testing.T) {
	tests := map[string]struct {
		format Format
		text   string
		want   string
	}{
		"nothing":                            {CSV, "", `data "d", file f: is empty: its first line must have the names`},
		"no objects":                         {JSONLines, "\n", `data "d", file f: is empty: each line must have a JSON object`},
		"a header only":                      {CSV, "a,b\n", `data "d", file f: has 0 rows, so worker 1 gets none: it needs at least as many rows as there are workers, 2`},
		"fewer rows than workers":            {CSV, "a\n1\n", `data "d", file f: has 1 rows, so worker 1 gets none`},
		"a value too few":                    {CSV, "a,b\n1,2\n3\n", `data "d", file f, line 3: has 1 values for 2 columns`},
		"a quote that has no end":            {CSV, "a,b\n1,\"2\n3,4\n", `data "d", file f, line 2: extraneous or missing " in quoted-field`},
		"a quote without an end, much later": {CSV, "a,b\n1,\"\n\"\n2,\"3\n" + strings.Repeat("4,5\n", maxRow/4), `data "d", file f, line 4: is the beginning of a row of more than 16777216 bytes: a quote`},
		"a column that is no name":           {CSV, "short-code\n1\n", `data "d", file f, line 1: column 1 has no name`},
		"a column that is a variable":        {CSV, "user\n1\n", `data "d", file f, line 1: column 1 has the name of a variable, user`},
		"the one with a range":               {CSV, "rand\n1\n", `column 1 has the name of a variable`},
		"a column with a name too long":      {CSV, strings.Repeat("a", 64) + "\n1\n", `data "d", file f, line 1: column 1 has no name`},
		"a column that begins with a digit":  {CSV, "1a\n1\n", `column 1 has no name`},
		"a column twice":                     {CSV, "a,a\n1,2\n", `data "d", file f, line 1: column 2 has the same name as another`},
		"a line that is no JSON":             {JSONLines, "{\"a\":1}\n{\"a\":\n", `data "d", file f, line 2: is not a JSON object`},
		"an object that has no values":       {JSONLines, "{}\n{}\n", `data "d", file f: has 2 rows, so worker 1 gets none`},
		"a name that is a variable":          {JSONLines, "\n{\"seq\":1}", `data "d", file f, line 2: column 1 has the name of a variable`},
		"an array":                           {JSONLines, "[1]", `data "d", file f, line 1: is not a JSON object`},
		"a value that is an object":          {JSONLines, `{"a":{}}`, `data "d", file f, line 1: has a value that is not a string, number`},
		"a name that is missing":             {JSONLines, "{\"a\":1,\"b\":2}\n{\"a\":1,\"c\":2}", `data "d", file f, line 2: lacks a name that is in the first line`},
		"a name too many":                    {JSONLines, "{\"a\":1}\n{\"a\":1,\"b\":2}", `data "d", file f, line 2: has 2 values, the first line has 1`},
		"a line that is much too long":       {JSONLines, "{\"a\":1}\n{\"a\":\"" + strings.Repeat("x", maxLine), `data "d", file f, line 2: is longer than 1048576 bytes`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := ReadTable(strings.NewReader(tt.text), File{Name: "d", Path: "f", Format: tt.format, Worker: 1, Workers: 2})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("ReadTable = %v, want …%s…", err, tt.want)
			}
		})
	}
}

// A file that cannot be read to its end gives no table of its beginning.
func TestReadTableReportsAReadError(t *testing.T) {
	failure := errors.New("the disk is gone")
	for format, text := range map[Format]string{CSV: "a\n1\n", JSONLines: "{\"a\":1}\n"} {
		in := io.MultiReader(strings.NewReader(text), iotest.ErrReader(failure))
		_, err := ReadTable(in, File{Name: "d", Path: "f", Format: format, Workers: 1})
		if want := map[Format]string{CSV: `data "d", file f: the`, JSONLines: `data "d", file f, line 2: the`}[format]; !errors.Is(err, failure) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("format %d: ReadTable = %v, want that the disk is gone", format, err)
		}
	}
}

// A line may be as long as the bound.
func TestReadTableTakesALongLine(t *testing.T) {
	value := strings.Repeat("x", maxLine-len(`{"a":""}`)-1)
	table, err := ReadTable(strings.NewReader(`{"a":"`+value+`"}`+"\n"), File{Name: "d", Path: "f", Format: JSONLines, Workers: 1})
	if err != nil || len(table.cell(0, 0)) != len(value) {
		t.Errorf("ReadTable of a line of %d bytes = %v", maxLine-1, err)
	}
}

// The error of a table that is too large names the line that exceeded the bound.
func TestReadTableIsBounded(t *testing.T) {
	text := "a\nx\n" + strings.Repeat(strings.Repeat("x", maxRow-1)+"\n", maxTable/maxRow)
	_, err := ReadTable(strings.NewReader(text), File{Name: "d", Path: "f", Workers: 1})
	if want := `data "d", file f, line 6: more than the 64 MiB that a worker holds`; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("ReadTable = %v, want %s…", err, want)
	}
}

// Empty cells take memory, too.
func TestTableIsBoundedByItsCells(t *testing.T) {
	names := make([]string, 1<<14)
	for i := range names {
		names[i] = fmt.Sprintf("c%d", i)
	}
	table, err := NewTable("d", names, Uniform)
	must.Succeed(t, err)
	rows := 0
	for err == nil {
		if err = table.Add(make([]string, len(names))); err == nil {
			rows++
		}
	}
	if want := maxTable / cellCost / len(names); rows != want {
		t.Errorf("%d rows of empty cells fit, want %d: %v", rows, want, err)
	}
}

func TestTableIsBounded(t *testing.T) {
	table, err := NewTable("setup.fill", []string{"a"}, Uniform)
	must.Succeed(t, err)
	row := []string{strings.Repeat("x", 1<<20)}
	for range maxTable>>20 - 1 {
		must.Succeed(t, table.Add(row))
	}
	if err := table.Add(row); err == nil || !strings.Contains(err.Error(), "more than the 64 MiB that a worker holds") {
		t.Errorf("Add = %v, want an error about the memory", err)
	}
	if table.Rows() != maxTable>>20-1 {
		t.Errorf("%d rows after one was refused", table.Rows())
	}
	if err := table.Add(nil); err == nil || !strings.Contains(err.Error(), `has no value for column "a"`) {
		t.Errorf("Add of nothing = %v", err)
	}
}

// Each of five rows is picked as often as its probability says. The generator is
// seeded, so that the counts are always the same.
func TestPickFollowsTheChoice(t *testing.T) {
	const n = 100_000
	zipf := make([]float64, 5)
	sum := 0.0
	for i := range zipf {
		zipf[i] = math.Pow(float64(i+1), -1.07)
		sum += zipf[i]
	}
	for i := range zipf {
		zipf[i] /= sum
	}
	tests := map[string]struct {
		choice Choice
		want   []float64
	}{
		"uniform":    {Uniform, []float64{0.2, 0.2, 0.2, 0.2, 0.2}},
		"sequential": {Sequential, []float64{0.2, 0.2, 0.2, 0.2, 0.2}},
		"zipf":       {Zipf, zipf},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			table := rows(t, tt.choice, "a", "1", "2", "3", "4", "5")
			counts := make([]int, 5)
			for seq := range int64(n) {
				var r Random
				r.begin(1, 0, seq)
				counts[table.pick(&r, seq)]++
			}
			for i, p := range tt.want {
				if bound := 5 * math.Sqrt(n*p*(1-p)); math.Abs(float64(counts[i])-n*p) > bound {
					t.Errorf("row %d was picked %d times, want %.0f give or take %.0f", i, counts[i], n*p, bound)
				}
			}
		})
	}
}

// The rows of a volume's file may take as much as the worker has for them.
func TestATableTakesWhatTheWorkerHas(t *testing.T) {
	text := "a\n" + strings.Repeat(strings.Repeat("x", 1<<20)+"\n", maxTable>>20)
	if _, err := ReadTable(strings.NewReader(text), File{Workers: 1}); err == nil || !strings.Contains(err.Error(), "more than the 64 MiB that a worker holds") {
		t.Errorf("of as much as is too much by default: %v", err)
	}
	table, err := ReadTable(strings.NewReader(text), File{Workers: 1, Most: 2 * maxTable})
	if err != nil || table.Rows() != maxTable>>20 {
		t.Errorf("with twice as much: %d rows, %v", table.Rows(), err)
	}
}
