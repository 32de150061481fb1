package pressure

import (
	"fmt"
	"os"
	"strings"
	"sync"
)

// Excuses are the verdicts of a package's tests that were excused, of those that had to be
// right. The zero value has none.
type Excuses struct {
	mu    sync.Mutex
	of    int
	lines []string
}

// Takes says whether a verdict that is not the right one is excused: what is under test says
// that it was hindered, and the machine says that it was busy. Verdicts that are right are
// told to Right.
func (e *Excuses) Takes(name string, hindered bool, r Reading) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.of++
	if !hindered || !r.Busy() {
		return false
	}
	e.lines = append(e.lines, fmt.Sprintf("excused: %s (%s)", name, r))
	return true
}

// Right counts a verdict that is right.
func (e *Excuses) Right() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.of++
}

// Run runs a package's tests, which return their exit code, and then says what was excused. The
// code is 1 if that is too much; hack/retest then runs no test again, since a part of the tests
// does not judge the whole.
func (e *Excuses) Run(tests func() int) int {
	code := tests()
	text, tooMany := e.summary()
	if text != "" {
		fmt.Fprint(os.Stderr, text)
	}
	if tooMany {
		code = max(code, 1)
	}
	return code
}

// summary has a line for each excuse; it is empty if there are none.
func (e *Excuses) summary() (text string, tooMany bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.lines) == 0 {
		return "", false
	}
	text = fmt.Sprintf("%s\nexcused: %d of %d verdicts\n", strings.Join(e.lines, "\n"), len(e.lines), e.of)
	if TooMany(len(e.lines), e.of) {
		return text + "excused: too many for the others to say something\nretest: never\n", true
	}
	return text, false
}
