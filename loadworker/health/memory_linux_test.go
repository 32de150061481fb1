package health

import "testing"

// Where this test runs there is some memory, and somebody who knows how much.
func TestMemoryLimitOfThisProcess(t *testing.T) {
	if got := MemoryLimit(); got < 1<<20 || got >= 1<<60 {
		t.Errorf("MemoryLimit() = %d, want more than a megabyte, and a bound", got)
	}
}
