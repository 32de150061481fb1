package world

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
)

// faulty is what a world has in which things fail.
type faulty struct {
	name string
	// timely says that the end of the run depends on when things happen, and ending is its
	// end without a fault; nil: this run tells it.
	timely bool
	ending *ending
	// looks says that the pods of the target are read, and digest is the digest of its image.
	looks  bool
	digest string
	// keeps says that the results are archived and the verdict is announced, destination is
	// where to.
	keeps       bool
	destination destination
	// planned are the steps that the run is to have.
	planned []v1beta1.StepStatus

	// faults are inserted before the event with that number.
	faults map[int][]fault
	events int
	// apiAway keeps every operator from reading and writing until then.
	apiAway time.Time
	// failWrites and failAfterWrites are how many writes are refused, or reported as
	// refused though they were made.
	failWrites, failAfterWrites int
	// lengths are how long each of the other runs takes.
	lengths map[types.UID]time.Duration
	// quotaUntil is the instant until which no archive is taken.
	quotaUntil time.Time
	// holdsInputs says that each pass is checked to write to no input, which takes time.
	holdsInputs bool
	// dropNotices is how many notifications are lost.
	dropNotices int

	truth
}

// truth is what no operator can see.
type truth struct {
	// harmed says that a worker died, was deleted, or was away for too long: what it
	// held may be missing.
	harmed bool
	// jumped says that a clock did, isolated that a worker was cut off for as long as a
	// new operator waits for it. Together they are harm: a limit may seem to have passed.
	// unreachable says that a worker was cut off at all.
	jumped, isolated, unreachable bool
	// held is for how long the run was until now, heldSince since when it is once more.
	held      time.Duration
	heldSince time.Time
	// slack is for how long operators were away, or clocks apart.
	slack time.Duration
	// noticeLost says that a notification was, which excuses a late pass.
	noticeLost bool
	// latest is how long after its instant a worker began a step.
	latest     time.Duration
	violations []string
	trace      []string
	states     int
}

// fault is something that goes wrong at an instant.
type fault struct {
	name   string
	insert func(*World)
}

// runFaulty lets everything happen, with the faults.
func (w *World) runFaulty() {
	const bound = 20_000
	for len(w.queue) > 0 && !w.api.deleted && w.events < bound && len(w.violations) == 0 {
		next := w.next()
		for _, f := range w.faults[w.events] {
			w.say("FAULT %s, before event %d", f.name, w.events)
			f.insert(w)
		}
		w.events++
		next.what()
		w.checkPrompt()
	}
	w.checkEnd()
}

// violated notes that an invariant does not hold.
func (w *World) violated(invariant, format string, args ...any) {
	text := invariant + ": " + fmt.Sprintf(format, args...)
	w.say("VIOLATION %s", text)
	w.violations = append(w.violations, text)
}

func (w *World) String() string {
	return fmt.Sprintf("story %q\n%s\n", w.name, strings.Join(w.trace, "\n"))
}

// faultNames are the faults that were inserted, each with its event.
func (w *World) faultNames() []string {
	var names []string
	for _, at := range slices.Sorted(maps.Keys(w.faults)) {
		for _, f := range w.faults[at] {
			names = append(names, fmt.Sprintf("%s before event %d", f.name, at))
		}
	}
	return names
}
