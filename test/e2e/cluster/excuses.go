package cluster

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/fault"
	"github.com/loadtest-dev/loadtest-operator/test/pressure"
)

// Excuses counts the single runs that were excused, and Suites has the suites that count theirs.
var (
	Excuses pressure.Excuses
	Suites  excusedSuites
)

// excusedSuites are the suites of which too much was excused, so that nothing was judged. It is
// said after all tests, and is the failure of no test: one that failed would be run again.
type excusedSuites struct {
	mu   sync.Mutex
	said []string
}

// Note notes how much of a suite was excused. Of a part of a suite, such as one check that is
// made again alone, nothing follows.
func (s *excusedSuites) Note(name string, busy, of int) {
	if IsPart() || !pressure.TooMany(busy, of) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.said = append(s.said, fmt.Sprintf("%s: %d of %d were excused, since the machine was busy: too many for the others to say something", name, busy, of))
}

// run runs all tests, which return their exit code. The code is 1 if too much was excused.
func (s *excusedSuites) run(tests func() int) int {
	code := Excuses.Run(tests)
	for _, said := range s.said {
		fmt.Fprintln(os.Stderr, said)
		code = max(code, 1)
	}
	return code
}

// IsPart says whether a part of a suite was asked for.
func IsPart() bool {
	return os.Getenv("FAULT") != "" || strings.Contains(flag.Lookup("test.run").Value.String(), "/")
}

// IsPassed checks that a run is Passed. It is excused if the status says that the load was
// displaced, or that it is not known whose time it was, and the machine, which was asked
// before the run, that it was busy.
func IsPassed(t *testing.T, lt *v1beta1.LoadTest, machine pressure.Meter) {
	t.Helper()
	if lt.Status.Verdict == v1beta1.VerdictPassed {
		Excuses.Right()
		return
	}
	said := Condition(lt, v1beta1.ConditionFinished).Message
	if reading := machine.Read(); !Excuses.Takes(t.Name(), IsUndecided(lt), reading) {
		t.Errorf("verdict %s, want Passed: %s (%s)", lt.Status.Verdict, said, reading)
	}
	t.Logf("verdict %s: %s", lt.Status.Verdict, said)
}

// IsUndecided says whether a run has no verdict for the generator's sake.
func IsUndecided(lt *v1beta1.LoadTest) bool {
	return lt.Status.Verdict == v1beta1.VerdictInconclusive && fault.Read(&lt.Status).Limited
}
