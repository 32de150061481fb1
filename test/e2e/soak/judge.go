package soak

import (
	"slices"

	"github.com/loadtest-dev/loadtest-operator/test/e2e/fault"
)

// Judge returns what is wrong with a run that has ended, whatever happened to it: its
// counts are not the target's, or it has Passed and must not have.
func Judge(load string, got fault.Outcome) []fault.Problem {
	if slices.Contains([]string{"wrong path", "refused target", "unknown target", "missing body"}, load) {
		if got.Verdict == fault.Passed || got.Received > 0 {
			return []fault.Problem{{Kind: fault.WronglyPassed, Text: "it cannot be answered rightly"}}
		}
		return nil // what such a target is sent, no target counts
	}
	if got.Verdict == fault.Passed && got.Received == 0 {
		return []fault.Problem{{Kind: fault.WronglyPassed, Text: "the target received nothing"}}
	}
	return fault.Judge(fault.Expectation{Verdicts: []string{got.Verdict}, Exact: got.Verdict == fault.Passed}, got)
}
