package replay

import (
	"regexp"
	"regexp/syntax"
	"strings"
)

// pattern is a regular expression that paths are matched with. Those of most routes match what begins
// with a text, or everything, for which nothing has to be run.
type pattern struct {
	of     *regexp.Regexp // nil: prefix says it all
	prefix string
}

func newPattern(of *regexp.Regexp) pattern {
	if prefix, ok := prefixOf(of.String()); ok {
		return pattern{prefix: prefix}
	}
	return pattern{of: of}
}

// prefixOf is the text with which all begins that an expression matches, and nothing else; ok is false
// if there is no such text.
func prefixOf(text string) (prefix string, ok bool) {
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return "", false
	}
	isText := func(e *syntax.Regexp) bool { return e.Op == syntax.OpLiteral && e.Flags&syntax.FoldCase == 0 }
	switch {
	case tree.Op == syntax.OpEmptyMatch || tree.Op == syntax.OpBeginText:
		return "", true
	case tree.Op == syntax.OpConcat && len(tree.Sub) == 2 && tree.Sub[0].Op == syntax.OpBeginText && isText(tree.Sub[1]):
		return string(tree.Sub[1].Rune), true
	}
	return "", false
}

func (p *pattern) match(path string) bool {
	if p.of == nil {
		return strings.HasPrefix(path, p.prefix)
	}
	return p.of.MatchString(path)
}
