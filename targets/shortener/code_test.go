package shortener_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/targets/shortener"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func TestIsCode(t *testing.T) {
	tests := map[string]bool{
		"a": true, "abc123": true, "ABC": true, "000000": true, strings.Repeat("z", 30): true,
		"Health": true, "urls1": true, "api": true,
		"": false, strings.Repeat("z", 31): false, "a-b": false, "a_b": false, "a/b": false, "a b": false, "ü": false, "a\x00": false,
		"health": false, "metrics": false, "ready": false, "shorten": false, "stats": false, "urls": false, "version": false,
	}
	for code, want := range tests {
		same.As(t, fmt.Sprintf("IsCode(%q)", code), want, shortener.IsCode(code))
	}
}

// All codes of one character are drawn in the end, and nothing else.
func TestRandomCode(t *testing.T) {
	seen := map[string]bool{}
	for range 10_000 { // each of 62 is missed with a chance of 62 * (61/62)^10000 < 1e-68
		code := shortener.RandomCode(1)
		if !shortener.IsCode(code) || len(code) != 1 {
			t.Fatalf("RandomCode(1) = %q", code)
		}
		seen[code] = true
	}
	if len(seen) != 62 {
		t.Errorf("%d different codes, want 62", len(seen))
	}
	if a, b := shortener.RandomCode(30), shortener.RandomCode(30); a == b || len(a) != 30 {
		t.Errorf("RandomCode(30) = %q, then %q", a, b)
	}
}
