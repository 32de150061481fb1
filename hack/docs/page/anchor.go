package page

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/yuin/goldmark/ast"
)

// anchors are those of one page. The second heading of a name gets the suffix -1.
type anchors struct{ taken map[string]bool }

// Generate makes an anchor from the text of a heading, with its markup.
func (a *anchors) Generate(heading []byte, _ ast.NodeKind) []byte {
	base := anchor(string(heading))
	name := base
	for n := 1; a.taken[name]; n++ {
		name = fmt.Sprintf("%s-%d", base, n)
	}
	a.taken[name] = true
	return []byte(name)
}

// Put notes an anchor that stands in the source.
func (a *anchors) Put(name []byte) { a.taken[string(name)] = true }

// anchor has the letters in lower case, digits, hyphens and underscores of a heading, and
// a hyphen for each space.
func anchor(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
			return unicode.ToLower(r)
		case r == ' ':
			return '-'
		}
		return -1
	}, strings.TrimSpace(heading))
}
