//go:build e2e

package e2e

import (
	"fmt"
	"sync"
	"testing"
)

// judgementChecks are runs whose truth is known beforehand.
var judgementChecks = []judgementCheck{
	{"a target without the path", checkUnknownPath},
	{"stored", checkStored},
	{"abort", checkAbort},
	{"on time", checkOnTime},
	{"baseline", checkBaseline},
}

// judgementCheck runs LoadTests in a namespace of its own, and says what is true
// beside what they say.
type judgementCheck struct {
	name string
	run  func(t *testing.T) judgement
}

// judgement is what is true, and what was found.
type judgement struct {
	truth, found string
	wrong        bool
}

// agree is a judgement that is wrong unless both are the same.
func agree(truth, found string) judgement {
	return judgement{truth: truth, found: found, wrong: truth != found}
}

// TestJudgement: what a LoadTest says of its target is true. It prints a line for each
// check, and the summary last.
func TestJudgement(t *testing.T) {
	var mu sync.Mutex
	made, right := 0, 0
	t.Cleanup(func() { fmt.Printf("judgement: %d checks, %d wrong\n", made, made-right) })
	for _, check := range judgementChecks {
		t.Run(check.name, func(t *testing.T) {
			t.Parallel()
			mu.Lock()
			made++
			mu.Unlock()
			j := check.run(t)
			mu.Lock()
			defer mu.Unlock()
			fmt.Printf("judgement: %s: truth %s, found %s\n", check.name, j.truth, j.found)
			if j.wrong || t.Failed() {
				t.Errorf("truth %s, found %s", j.truth, j.found)
				return
			}
			right++
		})
	}
}

// checkUnknownPath sends to a path that the target does not have, and names no
// threshold.
func checkUnknownPath(t *testing.T) judgement {
	lt := create(t, limiter(t), "unknown-path", `
target: {service: {name: ratelimiter, port: http}}
requests: [{path: /nothing-is-here}]
steps: [{rate: 20, duration: 3s}]
`)
	finish(t, lt, waitTimeout)
	result := lt.Status.Steps[0].Result
	return agree("Failed, 60 of 60 failed", fmt.Sprintf("%s, %d of %d failed", lt.Status.Verdict, result.Failed, result.Sent))
}
