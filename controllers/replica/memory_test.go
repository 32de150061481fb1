package replica

import (
	"runtime/debug"
	"testing"
)

func TestMemoryLimit(t *testing.T) {
	for given, want := range map[string]int64{
		"1000": 900, "536870912": 483183820, "": defaultMemoryLimit, "512Mi": defaultMemoryLimit, "0": defaultMemoryLimit,
		"-5": defaultMemoryLimit, "9223372036854775807": defaultMemoryLimit, "99999999999999999999": defaultMemoryLimit,
	} {
		if got := memoryLimit(given); got != want {
			t.Errorf("of a container's %q: %d, want %d", given, got, want)
		}
	}
}

func TestHeapGrowthIsLimited(t *testing.T) {
	before := debug.SetGCPercent(100)
	t.Cleanup(func() { debug.SetGCPercent(before) })
	t.Setenv("GOGC", "100")
	if LimitMemory(); debug.SetGCPercent(100) != 100 {
		t.Error("what the user gave is replaced")
	}
	t.Setenv("GOGC", "")
	if LimitMemory(); debug.SetGCPercent(100) != heapGrowth {
		t.Error("the heap may grow by another part")
	}
}

// The limit is that of the container, unless the user gave another.
func TestMemoryIsLimited(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	t.Cleanup(func() { debug.SetMemoryLimit(before) })
	t.Setenv(memoryLimitVariable, "1000000000")
	t.Setenv("GOMEMLIMIT", "1GiB")
	if LimitMemory(); debug.SetMemoryLimit(-1) != before {
		t.Error("what the user gave is replaced")
	}
	t.Setenv("GOMEMLIMIT", "")
	if LimitMemory(); debug.SetMemoryLimit(-1) != 900_000_000 {
		t.Errorf("the limit is %d, want 900 MB", debug.SetMemoryLimit(-1))
	}
}
