package health

import "testing"

// Linux says how much memory there is, and from which ports connections are made.
func TestSystemLimitsOfThisProcess(t *testing.T) {
	l := SystemLimits()
	if l.Memory < 1<<20 || l.Memory >= 1<<60 || l.Ports < 1 || l.Ports >= 1<<16 || l.Descriptors < 1 {
		t.Errorf("SystemLimits() = %+v, want more than a megabyte, ports and descriptors", l)
	}
}
