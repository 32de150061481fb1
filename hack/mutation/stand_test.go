package main

import "testing"

func TestOnlyAFailedTestKillsAMutant(t *testing.T) {
	for output, want := range map[string]int{
		"--- FAIL: TestJudge (0.00s)\n    judge_test.go:10: passed\nFAIL\n":  killed,
		"panic: runtime error: index out of range [1] with length 1\n":       killed,
		"fatal error: stack overflow\n":                                      killed,
		"panic: test timed out after 12s\n\trunning tests:\n\t\tTestJudge\n": timedOut,
		"FAIL\tm/p [build failed]\nFAIL\n":                                   notViable,
		"flag provided but not defined: -cpu 1\nUsage of p.test:\n":          notViable,
	} {
		if got := failure([]byte(output)); got != want {
			t.Errorf("%q: exit code %d, want %d", output, got, want)
		}
	}
}
