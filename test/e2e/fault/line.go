package fault

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Line is a fault, and what became of the run that it hit.
type Line struct {
	// Fault is what was done, and Run what the run was doing by design.
	Fault, Run string
	// At is where the run was, by its status, when the fault came.
	At       string
	Outcome  Outcome
	Problems []Problem
	// Busy says that the run is excused; see Busy.
	Busy bool
	// Err says why the fault could not be injected, or the run not be read.
	Err error
}

// columns are the widths of a line.
const columns = "%-26s %-34s %-24s %-12s %8s %7s %7s %7s %8s %7s  %s"

// Header names the columns of lines.
func Header() string {
	return fmt.Sprintf(columns, "FAULT", "RUN", "AT", "VERDICT", "RECEIVED", "SENT", "DUE", "PLANNED", "MISSING", "TOOK", "RESULT")
}

func (l Line) String() string {
	o := l.Outcome
	verdict := o.Verdict
	if verdict == "" {
		verdict = "-"
	}
	missing := "-"
	if o.Missing != nil {
		missing = "<=" + strconv.FormatInt(*o.Missing, 10)
	}
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	return fmt.Sprintf(columns, l.Fault, l.Run, l.At, verdict, number(o.Received), number(o.Sent), number(o.Due), number(o.Planned),
		missing, o.Took.Round(100*time.Millisecond).String(), l.result())
}

// OK says whether nothing is wrong.
func (l Line) OK() bool { return l.Err == nil && len(l.Problems) == 0 }

func (l Line) result() string {
	switch {
	case l.OK() && l.Busy:
		return "ok (busy machine: " + l.Outcome.Pressure.String() + ")"
	case l.OK():
		return "ok"
	}
	var all []string
	if l.Err != nil {
		all = append(all, "not judged: "+strings.ReplaceAll(l.Err.Error(), "\n", " "))
	}
	for _, p := range l.Problems {
		all = append(all, p.String())
	}
	if r := l.Outcome.Reason; r != "" && l.Err == nil {
		all = append(all, "it says: "+r)
	}
	return "PROBLEM " + strings.Join(all, "; ")
}

// Summary is the last line of the suite. A line counts once in each class of
// problems that it has.
func Summary(lines []Line) string {
	classes := []Kind{Stuck, Miscounted, WronglyPassed, WronglyFailed, Unexpected}
	n := map[Kind]int{}
	busy, injected := Excused(lines)
	for _, l := range lines {
		if l.Err != nil {
			continue
		}
		for _, kind := range classes {
			if l.has(kind) {
				n[kind]++
			}
		}
	}
	text := fmt.Sprintf("faults: %d injected, %d stuck, %d miscounted, %d wrongly passed, %d wrongly failed",
		injected, n[Stuck], n[Miscounted], n[WronglyPassed], n[WronglyFailed])
	if n[Unexpected] > 0 {
		text += fmt.Sprintf(", %d unexpected", n[Unexpected])
	}
	if busy > 0 {
		text += fmt.Sprintf(", %d on a busy machine", busy)
	}
	if unjudged := len(lines) - injected; unjudged > 0 {
		text += fmt.Sprintf(", %d not judged", unjudged)
	}
	return text
}

// Excused is how many runs have no verdict of the target since the machine was busy, of how
// many that a fault hit. Of these, no more than pressure.TooMany allows may be.
func Excused(lines []Line) (busy, of int) {
	for _, l := range lines {
		if l.Err == nil {
			of++
		}
		if l.OK() && l.Busy {
			busy++
		}
	}
	return busy, of
}

func (l Line) has(kind Kind) bool {
	for _, p := range l.Problems {
		if p.Kind == kind {
			return true
		}
	}
	return false
}
