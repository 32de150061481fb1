package text

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestTruncateCutsBetweenCharacters(t *testing.T) {
	for name, test := range map[string]struct{ in, want string }{
		"empty":                {"", ""},
		"short":                {"abc", "abc"},
		"just fits":            {"abcdefghij", "abcdefghij"},
		"too long":             {"abcdefghijk", "abcdefg…"},
		"within a character":   {"abcdefäöü", "abcdef…"},
		"after a character":    {"abcdeäöü", "abcdeä…"},
		"of wide characters":   {"世界世界", "世界…"},
		"not UTF-8":            {"a\xffb", "a\uFFFDb"},
		"nothing but no UTF-8": {"\xff\xfe", "\uFFFD"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Truncate(test.in, 10); got != test.want {
				t.Errorf("Truncate(%q, 10) = %q, want %q", test.in, got, test.want)
			}
		})
	}
}

func FuzzTruncate(f *testing.F) {
	f.Add("größe 世界", uint8(10))
	f.Add("a\xff\xe4\xb8b", uint8(3))
	f.Fuzz(func(t *testing.T, s string, limit uint8) {
		n := max(int(limit), len(mark))
		got := Truncate(s, n)
		if len(got) > n || !utf8.ValidString(got) || Truncate(got, n) != got {
			t.Errorf("Truncate(%q, %d) = %q", s, n, got)
		}
		if utf8.ValidString(s) && got != s && (len(s) <= n || !strings.HasPrefix(s, strings.TrimSuffix(got, mark))) {
			t.Errorf("Truncate(%q, %d) = %q, which is not its beginning", s, n, got)
		}
	})
}

func TestCleanRemovesWhatATerminalObeys(t *testing.T) {
	const limit = 256
	for name, test := range map[string]struct{ in, want string }{
		"as it is":          {"dial tcp: größe 世界", "dial tcp: größe 世界"},
		"control":           {"a\x1b[31mb\r\n\tc\x00\u0085", "a[31mbc"},
		"direction":         {"a\u202eb\u2066c\u2028d", "abcd"},
		"not UTF-8":         {"a\xffb", "ab"},
		"as long as it may": {strings.Repeat("x", 253) + "世", strings.Repeat("x", 253) + "世"},
		"long":              {strings.Repeat("x", 10_000), strings.Repeat("x", 253) + "…"},
		"cut within a rune": {strings.Repeat("x", 252) + "世yy", strings.Repeat("x", 252) + "…"},
		"cut after a rune":  {strings.Repeat("x", 250) + "世yyyy", strings.Repeat("x", 250) + "世…"},
		"huge, cut within a rune, of little to show": {strings.Repeat("\x00", 1_023) + "世", "…"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Clean(test.in, limit); got != test.want {
				t.Errorf("Clean: got %q, want %q", got, test.want)
			} else if again := Clean(got, limit); again != got {
				t.Errorf("Clean: of %q, which it made, it makes %q", got, again)
			}
		})
	}
}

func TestLinesKeepsTheEndsOfLinesAlone(t *testing.T) {
	if got, want := Lines("größe 世界\n\x1b]0;title\x07a\r\x1b[2Jb\u202ec\xff\n\n"), "größe 世界\n]0;titlea[2Jbc\n\n"; got != want {
		t.Errorf("Lines: got %q, want %q", got, want)
	}
}
