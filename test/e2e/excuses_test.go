//go:build e2e

package e2e

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/fault"
	"github.com/loadtest-dev/loadtest-operator/test/pressure"
)

// excuses counts the single runs that were excused, and suites has the suites that count theirs.
var (
	excuses pressure.Excuses
	suites  excusedSuites
)

// excusedSuites are the suites of which too much was excused, so that nothing was judged. It is
// said after all tests, and is the failure of no test: one that failed would be run again.
type excusedSuites struct {
	mu   sync.Mutex
	said []string
}

// note notes how much of a suite was excused. Of a part of a suite, such as one check that is
// made again alone, nothing follows.
func (s *excusedSuites) note(name string, busy, of int) {
	if isPart() || !pressure.TooMany(busy, of) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.said = append(s.said, fmt.Sprintf("%s: %d of %d were excused, since the machine was busy: too many for the others to say something", name, busy, of))
}

// run runs all tests, which return their exit code. The code is 1 if too much was excused.
func (s *excusedSuites) run(tests func() int) int {
	code := excuses.Run(tests)
	for _, said := range s.said {
		fmt.Fprintln(os.Stderr, said)
		code = max(code, 1)
	}
	return code
}

// isPart says whether a part of a suite was asked for.
func isPart() bool {
	return os.Getenv("FAULT") != "" || strings.Contains(flag.Lookup("test.run").Value.String(), "/")
}

// isPassed checks that a run is Passed. It is excused if the status says that the load was
// displaced, or that it is not known whose time it was, and the machine, which was asked
// before the run, that it was busy.
func isPassed(t *testing.T, lt *v1alpha1.LoadTest, machine pressure.Meter) {
	t.Helper()
	if lt.Status.Verdict == v1alpha1.VerdictPassed {
		excuses.Right()
		return
	}
	if reading := machine.Read(); !excuses.Takes(t.Name(), isUndecided(lt), reading) {
		t.Errorf("verdict %s, want Passed: %s (%s)", lt.Status.Verdict, condition(lt, v1alpha1.ConditionFinished).Message, reading)
	}
}

// isUndecided says whether a run has no verdict for the generator's sake.
func isUndecided(lt *v1alpha1.LoadTest) bool {
	return lt.Status.Verdict == v1alpha1.VerdictInconclusive && fault.Read(&lt.Status).Limited
}
