package wire

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxErrorBytes is how much of an error's text is kept: enough for a dial error
// with two addresses, short enough for a condition.
const MaxErrorBytes = 256

// CleanText makes a text that came from a target or a worker fit to be shown:
// no control characters (a terminal would obey them), valid UTF-8, and cut at a
// rune boundary with a mark that it was.
func CleanText(s string) string {
	// A rune is at least one byte: cutting first keeps a huge text cheap.
	huge := len(s) > 4*MaxErrorBytes
	if huge {
		s = s[:4*MaxErrorBytes]
	}
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == utf8.RuneError || isFormat(r) {
			return -1
		}
		return r
	}, s)
	if !huge && len(s) <= MaxErrorBytes {
		return s
	}
	cut := min(len(s), MaxErrorBytes-len(ellipsis))
	for cut < len(s) && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + ellipsis
}

const ellipsis = "…"

// isFormat is true of the invisible characters that reorder what is around
// them, and of line and paragraph separators.
func isFormat(r rune) bool { return unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) }
