package main

import (
	"testing"

	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func TestProblemsAreAllThatIsNotFine(t *testing.T) {
	said := "[OK] a apps/v1/Deployment\n[WARNING] b v1/Pod: (c) no probe\n[SKIPPED] d\n\n[CRITICAL] e\nsomething else\n"
	same.As(t, "problems", []string{"[WARNING] b v1/Pod: (c) no probe", "[CRITICAL] e", "something else"}, problems(said))
	if lines := problems("[OK] a\n"); len(lines) > 0 {
		t.Errorf("problems %q where there are none", lines)
	}
}
