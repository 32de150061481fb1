package policy

import (
	"path"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// Of texts without a slash, and patterns without brackets, the standard library's Match is
// the oracle.
func TestPatternsMatchAsThoseOfTheStandardLibrary(t *testing.T) {
	for _, pattern := range words("ab*", 5) {
		for _, text := range words("ab", 5) {
			want, err := path.Match(pattern, text)
			must.Succeed(t, err)
			if got := matches(pattern, text); got != want {
				t.Errorf("%q matches %q: %v, want %v", pattern, text, got, want)
			}
		}
	}
}

// words are all of up to so many letters.
func words(letters string, length int) []string {
	list := []string{""}
	for from := 0; length > 0; length-- {
		to := len(list)
		for _, w := range list[from:to] {
			for _, l := range strings.Split(letters, "") {
				list = append(list, w+l)
			}
		}
		from = to
	}
	return list
}
