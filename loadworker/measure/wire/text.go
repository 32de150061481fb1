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
// rune boundary.
func CleanText(s string) string {
	// A rune is at least one byte: cutting first keeps a huge text cheap.
	if len(s) > 4*MaxErrorBytes {
		s = s[:4*MaxErrorBytes]
	}
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == utf8.RuneError || isFormat(r) {
			return -1
		}
		return r
	}, s)
	if len(s) <= MaxErrorBytes {
		return s
	}
	cut := MaxErrorBytes
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut]
}

// isFormat is true of the invisible characters that reorder what is around
// them, and of line and paragraph separators.
func isFormat(r rune) bool { return unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) }
