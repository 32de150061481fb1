package flaky

import (
	"os"
	"testing"
)

// TestByChance fails when it runs for the first time.
func TestByChance(t *testing.T) {
	first := os.Getenv("RETEST_FIRST")
	if _, err := os.Stat(first); err != nil {
		if err := os.WriteFile(first, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		t.Fatal("by chance")
	}
}

func TestAlways(t *testing.T) { t.Fatal("always") }
