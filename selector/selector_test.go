package selector

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/test/must"
)

const page = `<!doctype html><html><head><title>Pay &amp; go</title><meta name="csrf-token" content="m1">
<script>if (a < b) document.write("<input name=csrf value=script>")</script></head>
<body class="shop dark"><!-- <input name=csrf value=comment> -->
<form id="login" action="/login"><div><INPUT TYPE=hidden NAME="csrf" VALUE="t&amp;1"><br>
<button class='btn btn-primary'>Log <b>in</b> </button></div></form>
<form id=other><input name=csrf value=t2 /></form>
<ul><li>one<li class=x>two</ul><svg id=s><path class=x /><g><circle/></g><foreignObject><svg><path/><g></g></svg><b/><p>in</p></foreignObject></svg><i/><p data-id="7"></p><a href="/pay?id=42">pay</a></body></html>`

func TestFind(t *testing.T) {
	for _, tt := range []struct{ selector, attribute, want string }{
		{"input[name=csrf]", "value", "t&1"},
		{`input[name="csrf"]`, "VALUE", "t&1"},
		{"meta[name='csrf-token']", "content", "m1"},
		{"#other input", "value", "t2"},
		{"form#other > input", "value", "t2"},
		{"form>div>input", "value", "t&1"},
		{"form > input", "value", "t2"},
		{"body.shop.dark form div input[type=hidden]", "value", "t&1"},
		{"html body #login", "action", "/login"},
		{"*", "class", "!the element has no such attribute"},
		{"title", "", "Pay & go"},
		{"button.btn-primary", "", "Log in"},
		{"button b", "", "in"},
		{"li.x", "", "two"},
		{"ul li", "", "onetwo"}, // li has no end tag
		{"[data-id]", "data-id", "7"},
		{"svg > g", "", ""},
		{"path.x", "", ""},
		{"path g", "", "!no element matches the selector"},
		{"foreignobject > svg > path > g", "", "!no element matches the selector"},
		{"foreignobject b p", "", "in"},  // but in HTML that a drawing holds, as in all other, a slash means nothing
		{"i p[data-id]", "data-id", "7"}, // out of a drawing, a slash means nothing
		{"p[data-id]", "", ""},
		{"a[href^='/pay?id=']", "href", "/pay?id=42"},
		{"a[href*='id=']", "", "pay"},
		{"input", "", ""},
		{"input[name=csrf]", "data-x", "!the element has no such attribute"},
		{"form form", "", "!no element matches the selector"},
		{"div > form", "", "!no element matches the selector"},
		{"head input", "", "!no element matches the selector"},
	} {
		s, err := Compile(tt.selector)
		must.Succeed(t, err)
		got, err := s.Find([]byte(page), tt.attribute)
		if err != nil {
			got = "!" + err.Error()
		}
		if got != tt.want {
			t.Errorf("%s, %s: %q, want %q", tt.selector, tt.attribute, got, tt.want)
		}
	}
}

func TestSelectorsThatAreRefused(t *testing.T) {
	for selector, want := range map[string]string{
		"":                       "has 0 elements, from 1 to 8 are accepted",
		" ":                      "has 0 elements",
		"a b c d e f g h i":      "has 9 elements",
		"a:has(b)":               "has ':': elements are named by tag, #id, .class and [attribute], in others by a space or >",
		"li:nth-child(2)":        "has ':'",
		"a, b":                   "has ','",
		"a + b":                  "has '+'",
		"a~b":                    "has '~'",
		"> a":                    "has a > without an element on each side",
		"a >":                    "has a > without an element on each side",
		"a > > b":                "has a > without an element on each side",
		"a[href":                 "",
		"[a#=(x+x+)+y]":          "has an attribute with #=, which is none of CSS; capture a part with match",
		`[a=":,+~ >"]`:           "-",
		`a\:b`:                   "-",
		"a[":                     "",
		"a]":                     "",
		".":                      "",
		"#":                      "",
		"[a='b]":                 "",
		strings.Repeat("a", 257): "has 257 bytes, at most 256 are accepted",
		"a" + "\x00" + "b":       "",
		"(a)":                    "",
	} {
		switch _, err := Compile(selector); {
		case want == "-" && err != nil:
			t.Errorf("%q: %v", selector, err)
		case want != "-" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%q: %v, want %s", selector, err, want)
		}
	}
}

// bombs are pages on which a browser's tree, or a search in it, becomes large or slow.
func bombs(size int) map[string]string {
	fill := func(part string) string { return strings.Repeat(part, size/len(part)) }
	var formatting strings.Builder
	for i := range 400 {
		fmt.Fprintf(&formatting, "<b a=%d>", i)
	}
	return map[string]string{
		"deep":        fill("<a>"),
		"ends":        strings.Repeat("<a>", 500) + fill("</b>"),
		"formatting":  "<div>" + formatting.String() + "</div>" + fill("<div>x</div>"),
		"tags":        strings.Repeat("<a>", 500) + fill("<br>"),
		"attributes":  "<a " + fill("b=c ") + ">",
		"many names":  fill("<x a=1 b=2></x>"),
		"a long text": "<title>" + fill("x") + "</title>",
		"open":        "<a " + fill(`"`),
		"comment":     "<!--" + fill("-"),
		"entities":    fill("&amp;&lt"),
		"zeros":       fill("\x00<"),
		"a drawing":   "<svg>" + fill("<path/>"),
	}
}

// Whatever the page, it ends, and what is returned is bounded.
func TestPagesThatAreLarge(t *testing.T) {
	s, err := Compile("a a a a a a a x")
	must.Succeed(t, err)
	title, err := Compile("title")
	must.Succeed(t, err)
	for name, page := range bombs(1 << 20) {
		want := ErrNone
		if name == "deep" {
			want = ErrTooDeep
		}
		if _, err := s.Find([]byte(page), ""); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
		if got, err := title.Find([]byte(page), ""); name == "a long text" && (err != nil || len(got) != MaxText) {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
	}
}

func FuzzFind(f *testing.F) {
	f.Add("input[name=csrf]", page, "value")
	f.Add("a > b c", "<a><b></a></b><c>", "")
	f.Fuzz(func(t *testing.T, selector, page, attribute string) {
		s, err := Compile(selector)
		if err != nil {
			return
		}
		if got, _ := s.Find([]byte(page), attribute); attribute == "" && len(got) > MaxText {
			t.Errorf("%d bytes", len(got))
		}
	})
}

func BenchmarkFind(b *testing.B) {
	s, err := Compile("form input[name=never]")
	must.Succeed(b, err)
	pages := bombs(1 << 20)
	pages["page of 1 MiB"] = strings.Repeat(page, 1<<20/len(page))
	pages["page of 1 KiB"] = page
	for name, page := range pages {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(page)))
			for b.Loop() {
				_, _ = s.Find([]byte(page), "value")
			}
		})
	}
}
