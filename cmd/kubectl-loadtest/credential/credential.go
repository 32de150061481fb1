package credential

import (
	"slices"
	"strings"
)

// words are parts of the names of headers that carry credentials.
var words = []string{"auth", "cookie", "token", "secret", "password", "key", "session", "signature", "credential"}

// InHeader says whether a header, or a field of metadata, carries what one could log in
// with. Of a name that it is not sure of, it says so, too.
func InHeader(name string) bool {
	lower := strings.ToLower(name)
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(lower, word) })
}
