package flaky

import (
	"os"
	"testing"
)

// failFirst fails when it runs for the first time.
func failFirst(t *testing.T) {
	t.Helper()
	first := os.Getenv("RETEST_FIRST")
	if _, err := os.Stat(first); err != nil {
		if err := os.WriteFile(first, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		t.Fatal("by chance")
	}
}

func TestByChance(t *testing.T) { failFirst(t) }

func TestSkipsAlone(t *testing.T) {
	failFirst(t)
	t.Skip("it passes nothing")
}

func TestAlways(t *testing.T) { t.Fatal("always") }

func TestExits(*testing.T) { os.Exit(3) }
