package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// mark stands at the end of a text that was cut.
const mark = "…"

// Truncate cuts a text to at most limit bytes, and so to at most as many
// characters; limit is at least that of the mark, 3. It cuts between two
// characters and marks that it did. Bytes that are not UTF-8 are replaced.
func Truncate(s string, limit int) string {
	s = strings.ToValidUTF8(s, string(utf8.RuneError))
	if len(s) <= limit {
		return s
	}
	end := limit - len(mark)
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + mark
}

// Clean removes what a terminal would obey and what is not UTF-8, and cuts the
// text to at most limit bytes.
func Clean(s string, limit int) string {
	// A character is at most four bytes long: no more of a huge text is looked at.
	s = Truncate(s, utf8.UTFMax*limit)
	return Truncate(strings.Map(obeyed, s), limit)
}

// Lines removes from a text of lines what a terminal would obey, but the ends of its
// lines, and what is not UTF-8.
func Lines(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' {
			return r
		}
		return obeyed(r)
	}, s)
}

// obeyed is -1 for a character that a terminal would obey, and else the character.
func obeyed(r rune) rune {
	if unicode.IsControl(r) || r == utf8.RuneError || isFormat(r) {
		return -1
	}
	return r
}

// isFormat is true of the invisible characters that reorder what is around
// them, and of line and paragraph separators.
func isFormat(r rune) bool { return unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) }
