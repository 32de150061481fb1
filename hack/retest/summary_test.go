package main

import (
	"os/exec"
	"strings"
	"testing"
)

// What is printed of a part of a suite that ran again alone is no summary of the suite.
func TestTheSummaryOfASuiteIsItsLastLine(t *testing.T) {
	const printed = `faults: 3 injected, 1 wrong
=== again alone, 3 times: p.TestFaults/node
faults: 1 injected, 0 wrong
tests: 2 passed, 0 failed, 0 skipped, 1 flaky
`
	for suite, want := range map[string]string{"faults": printed + "faults: 3 injected, 1 wrong\n", "": printed} {
		cmd := exec.Command("awk", "-v", "suite="+suite, "-f", "../../test/e2e/summary.awk")
		cmd.Stdin = strings.NewReader(printed)
		if got, err := cmd.CombinedOutput(); err != nil || string(got) != want {
			t.Errorf("suite %q: %v, printed\n%s\nwant\n%s", suite, err, got, want)
		}
	}
}
