package ratelimiter_test

import (
	"testing"

	"github.com/loadtest-dev/loadtest-operator/targets/ratelimiter"
)

func TestParseFailurePolicy(t *testing.T) {
	for _, want := range []ratelimiter.FailurePolicy{ratelimiter.Closed, ratelimiter.Open} {
		if got, err := ratelimiter.ParseFailurePolicy(string(want)); err != nil || got != want {
			t.Errorf("ParseFailurePolicy(%q) = %q, %v", want, got, err)
		}
	}
	_, err := ratelimiter.ParseFailurePolicy("half-open")
	if want := `unknown policy "half-open": use closed or open`; err == nil || err.Error() != want {
		t.Errorf("error = %v, want %s", err, want)
	}
}
