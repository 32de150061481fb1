package draft

import (
	"regexp"
	"regexp/syntax"
	"strings"
)

// matching makes a short text that a regular expression of a schema matches, of at least so many letters if the
// expression allows it. ok is false if it finds no such text, as where Go cannot read an expression of JavaScript.
func matching(pattern string, least int) (text string, ok bool) {
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return "", false
	}
	compiled, err := regexp.Compile(pattern)
	if err != nil {
		return "", false
	}
	for _, more := range []int{0, 1, least} {
		var b strings.Builder
		write(&b, parsed, min(more, maxPath))
		if text = b.String(); len(text) <= maxValue && len(text) >= least && compiled.MatchString(text) {
			return text, true
		}
	}
	return "", false
}

// write writes a text that an expression matches, with so many repetitions of what may be repeated.
func write(b *strings.Builder, e *syntax.Regexp, more int) {
	if b.Len() > maxValue {
		return
	}
	most := e.Max
	switch e.Op {
	case syntax.OpLiteral:
		b.WriteString(string(e.Rune))
	case syntax.OpCharClass:
		b.WriteRune(oneOf(e.Rune))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.WriteByte('x')
	case syntax.OpAlternate:
		write(b, e.Sub[0], more)
	case syntax.OpCapture, syntax.OpConcat:
		for _, part := range e.Sub {
			write(b, part, more)
		}
	case syntax.OpStar, syntax.OpPlus, syntax.OpQuest, syntax.OpRepeat:
		least := e.Min
		switch e.Op {
		case syntax.OpStar:
			least, most = 0, -1
		case syntax.OpPlus:
			least, most = 1, -1
		case syntax.OpQuest:
			least, most = 0, 1
		}
		n := max(least, more)
		if most >= 0 {
			n = min(n, most)
		}
		for range n {
			write(b, e.Sub[0], more)
		}
	}
}

// oneOf is a character of a class, which has ranges: a letter or a digit if there is one.
func oneOf(ranges []rune) rune {
	for _, preferred := range "a1A" {
		for i := 0; i < len(ranges); i += 2 {
			if ranges[i] <= preferred && preferred <= ranges[i+1] {
				return preferred
			}
		}
	}
	for i := 0; i < len(ranges); i += 2 {
		if last := ranges[i+1]; last > ' ' { // what can be seen
			return max(ranges[i], '!')
		}
	}
	if len(ranges) == 0 {
		return 'x'
	}
	return ranges[0]
}
