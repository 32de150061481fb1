package shortener

import (
	"math/rand/v2"
	"slices"
	"strings"
)

const (
	// alphabet is base62 in the order of its digits' values.
	alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	// MaxCodeLength is the length of the longest alias, and so of the longest
	// code.
	MaxCodeLength = 30
)

// reserved are the pages of every API, which as codes could never be reached.
// The api of /api/urls is none: nothing is at /api itself.
var reserved = []string{"health", "metrics", "ready", "shorten", "stats", "urls", "version"}

// IsCode reports whether s can be the code of a link.
func IsCode(s string) bool {
	if len(s) == 0 || len(s) > MaxCodeLength {
		return false
	}
	for i := range len(s) {
		if !isBase62(s[i]) {
			return false
		}
	}
	return !slices.Contains(reserved, s)
}

// codeOf is n in base62, padded with 0 in front; what does not fit is cut off.
func codeOf(n, length int) string {
	code := make([]byte, length)
	for at := length - 1; at >= 0; at-- {
		code[at] = alphabet[n%len(alphabet)]
		n /= len(alphabet)
	}
	return string(code)
}

// numberOf is the number whose code it is.
func numberOf(code string) int {
	n := 0
	for i := range len(code) {
		n = n*len(alphabet) + strings.IndexByte(alphabet, code[i])
	}
	return n
}

func isBase62(c byte) bool {
	return '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z'
}

// RandomCode draws a code of that length.
func RandomCode(length int) string {
	code := make([]byte, length)
	for {
		for i := range code {
			code[i] = alphabet[rand.IntN(len(alphabet))]
		}
		if s := string(code); IsCode(s) {
			return s
		}
	}
}
