package source

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/test/must"
)

func render(t *testing.T, text string, v Vars) string {
	t.Helper()
	template, err := columns(nil).compile(text)
	must.Succeed(t, err)
	var r Random
	r.begin(1, v.Step, v.Seq)
	return string(template.Append(nil, v, &r, nil))
}

func TestTemplate(t *testing.T) {
	v := Vars{User: 7, Seq: 1234567890123, Worker: 3}
	tests := map[string]struct{ text, want string }{
		"nothing":               {"", ""},
		"no variable":           {"/path?x={y}", "/path?x={y}"},
		"user":                  {"${user}", "7"},
		"all numbers":           {"a${user}b${seq}c${worker}d", "a7b1234567890123c3d"},
		"next to each other":    {"${user}${worker}", "73"},
		"a dollar sign":         {"$$", "$"},
		"no variable after it":  {"$${user}", "${user}"},
		"a variable after it":   {"$$${user}", "$7"},
		"one number at random":  {"${rand:5-5}", "5"},
		"zero":                  {"${rand:0-0}", "0"},
		"in JSON":               {`{"id": ${user}, "at": "$$${seq}"}`, `{"id": 7, "at": "$1234567890123"}`},
		"letters beyond ASCII":  {"ä${user}ö", "ä7ö"},
		"lines":                 {"a\n${user}\n", "a\n7\n"},
		"a brace that is alone": {"}{", "}{"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := render(t, tt.text, v); got != tt.want {
				t.Errorf("%q renders as %q, want %q", tt.text, got, tt.want)
			}
		})
	}
}

func TestCompileRefuses(t *testing.T) {
	tests := map[string]struct{ text, want string }{
		"an unknown variable":    {"a ${foo}", "unknown variable ${foo}; known are ${user}, ${seq}, ${worker}, ${uuid}, ${rand:a-b}; write $$ for a dollar sign"},
		"a single dollar sign":   {"cost: $5", "a single $; write $$ for a dollar sign"},
		"one at the end":         {"$", "a single $; write $$ for a dollar sign"},
		"no closing brace":       {"${user", "the ${ at 0 has no closing brace"},
		"a name with its table":  {"a ${accounts.email}", "unknown variable ${accounts.email}: a column or a captured value has no prefix; write ${email}"},
		"a reserved name, too":   {"a ${accounts.user}", "unknown variable ${accounts.user}: a column or a captured value has no prefix, and must not be called user, as a variable is; rename it"},
		"nothing in braces":      {"a ${}", "the ${ at 2 has no name before its closing brace; known are ${user}"},
		"a space":                {"${ user}", "the ${ at 0 has no name"},
		"upper case":             {"${User}", "unknown variable ${User}"},
		"a range of one":         {"${rand:5}", "${rand:a-b} must have integers 0 <= a <= b"},
		"a range upside down":    {"${rand:6-5}", "must have"},
		"a negative range":       {"${rand:-1-5}", "must have"},
		"a range of letters":     {"${rand:a-b}", "must have"},
		"letters, then a number": {"${rand:x-5}", "must have"},
		"a number, then letters": {"${rand:5-x}", "must have"},
		"a range from nothing":   {"${rand:-5}", "must have"},
		"a name that just fits":  {"${" + strings.Repeat("x", 63) + "}", "unknown variable ${" + strings.Repeat("x", 63) + "};"},
		"a range too large":      {"${rand:0-9223372036854775808}", "must have"},
		"no range":               {"${rand:}", "must have"},
		"a long name":            {"${" + strings.Repeat("x", 1000) + "}", "the ${ at 0 has no name"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := columns(nil).compile(tt.text)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("columns(nil).compile(%q) = %v, want …%s…", tt.text, err, tt.want)
			}
		})
	}
}

func TestRandomIntegersCoverTheirRangeEvenly(t *testing.T) {
	template, err := columns(nil).compile("${rand:10-13}")
	must.Succeed(t, err)
	counts := map[string]int{}
	var r Random
	const n = 40000
	for seq := range int64(n) {
		r.begin(42, 0, seq)
		counts[string(template.Append(nil, Vars{}, &r, nil))]++
	}
	for _, value := range []string{"10", "11", "12", "13"} {
		// 10,000 each, with a standard deviation of 87.
		if c := counts[value]; c < 9500 || c > 10500 {
			t.Errorf("%s came %d times of %d, want about a quarter", value, c, n)
		}
	}
	if len(counts) != 4 {
		t.Errorf("%d different values, want 4", len(counts))
	}
}

func TestUUID(t *testing.T) {
	form := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	seen, parts := map[string]bool{}, map[string]bool{}
	for step := range int32(3) {
		for seq := range int64(1000) {
			id := render(t, "${uuid}", Vars{Seq: seq, Step: step})
			if !form.MatchString(id) {
				t.Fatalf("%q is no UUID of version 4", id)
			}
			if seen[id] {
				t.Fatalf("%s came twice", id)
			}
			seen[id] = true
			for _, part := range []string{id[:13], id[24:]} { // of 44 bits and of 48
				if parts[part] {
					t.Fatalf("%s of %s came in another one, too", part, id)
				}
				parts[part] = true
			}
		}
	}
}

func TestTheSameSeedGivesTheSameText(t *testing.T) {
	v := Vars{Seq: 5, Step: 1}
	first, again := render(t, "${uuid} ${rand:0-1000000}", v), render(t, "${uuid} ${rand:0-1000000}", v)
	if first != again {
		t.Errorf("%q and then %q", first, again)
	}
	v.Worker, v.User = 9, 9
	if other := render(t, "${uuid} ${rand:0-1000000}", v); other != first {
		t.Errorf("another worker renders %q instead of %q", other, first)
	}
}

// A value that is escaped is itself again once the JSON is read, whatever it has.
func TestValuesAreEscapedForJSON(t *testing.T) {
	for _, value := range []string{"", "plain", `a "queue"`, `back\slash`, "two\nlines\r\n\ttab", "\x00\x1f", "ünï", `"`, `\"`, strings.Repeat(`"\`, 1000)} {
		table, err := NewTable("prompts", []string{"prompt"}, Sequential)
		must.Succeed(t, err)
		must.Succeed(t, table.Add([]string{value}))
		s, err := New(Config{Tables: []*Table{table}, Requests: []Request{{
			Name: "chat", Method: "POST", Path: "/", Weight: 1, Body: `{"before": "x", "prompt": "${json:prompt}", "n": ${seq}}`,
		}}})
		must.Succeed(t, err)
		var b Buffer
		s.Render(&b, 0, Vars{Seq: 7, Order: Order{Streams: 1}})
		var got struct {
			Before, Prompt string
			N              int
		}
		if err := json.Unmarshal(b.Request.Body, &got); err != nil || got.Prompt != value || got.Before != "x" || got.N != 7 {
			t.Errorf("%q is sent as %q: %v", value, b.Request.Body, err)
		}
	}
}

func TestOnlyColumnsAreEscapedForJSON(t *testing.T) {
	for text, want := range map[string]string{
		"${json:user}":   "${json:user}: only a column or a captured value is escaped; write ${user}",
		"${json:rand}":   "only a column or a captured value is escaped",
		"${json:prompt}": "unknown variable ${prompt}",
		"${json:}":       "has no name before its closing brace",
	} {
		if _, err := columns(nil).compile(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	if names, sample, err := Names("${json:prompt}${prompt}"); err != nil || len(names) != 1 || names[0] != "prompt" || sample != "11" {
		t.Errorf("names %q, sample %q, %v", names, sample, err)
	}
}
