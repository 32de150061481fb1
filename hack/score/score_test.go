package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestProblemsAreAllThatIsNotFine(t *testing.T) {
	said := "[OK] a apps/v1/Deployment\n[WARNING] b v1/Pod: (c) no probe\n[SKIPPED] d\n\n[CRITICAL] e\nsomething else\n"
	if diff := cmp.Diff([]string{"[WARNING] b v1/Pod: (c) no probe", "[CRITICAL] e", "something else"}, problems(said)); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	if lines := problems("[OK] a\n"); len(lines) > 0 {
		t.Errorf("problems %q where there are none", lines)
	}
}
