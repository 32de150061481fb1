package fault

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Verdicts of a LoadTest, and Gone for one that does not exist any more.
const (
	Passed       = "Passed"
	Failed       = "Failed"
	Inconclusive = "Inconclusive"
	Canceled     = "Canceled"
	Error        = "Error"
	Gone         = "gone"
)

// Expectation is what must become of a run after a fault.
type Expectation struct {
	// Verdicts are those that are right; Gone means that the LoadTest is removed.
	Verdicts []string
	// Within bounds the time from the fault to the end.
	Within time.Duration
	// Exact says that the fault leaves no request out: what the target received is
	// what was sent, and what was planned was due.
	Exact bool
	// WorkerGone says that the fault ends a worker before its plan has ended, or keeps
	// it from sending what is due.
	WorkerGone bool
	// Reason is a part that the explanation of the verdict must have.
	Reason string
}

// Outcome is what became of it.
type Outcome struct {
	// Verdict is empty if the run did not end within its bound.
	Verdict string
	// Reason explains the verdict, as the status does.
	Reason string
	// Took is the time from the fault to the end.
	Took time.Duration
	// Planned follows from the spec. The suite computes it by itself.
	Planned int64
	// Due, Sent and Completed are what the status says, over all steps.
	Due, Sent, Completed int64
	// Missing is how many requests at most the status declares to be left out; nil if
	// it declares nothing.
	Missing *int64
	// Received and Wrong are what the target counted: all requests, and those that it
	// answered wrongly.
	Received, Wrong int64
	// Left names what the run left behind after its end, such as a worker.
	Left string
	// Limited says that the status calls the generator the limit: on a busy machine its
	// requests leave late.
	Limited bool
}

// Exact says whether the status says what was received, and the whole plan was due.
// What it was due and not sent, the status says itself.
func (o Outcome) Exact() bool { return o.Received == o.Sent && o.Due == o.Planned }

// Busy says whether a run that could have passed is Inconclusive for no other reason
// than a busy machine: nothing of it is missing, and all but 5% was sent. That is no
// consequence of a fault; a step that begins too late is.
func Busy(want Expectation, got Outcome) bool {
	could := slices.Contains(want.Verdicts, Passed) && !want.WorkerGone
	return could && got.Verdict == Inconclusive && got.Limited && got.Exact() && (got.Due-got.Sent)*20 <= got.Due
}

// Kind is a class of problems.
type Kind string

// The classes of problems.
const (
	Stuck         Kind = "stuck"
	Miscounted    Kind = "miscounted"
	WronglyPassed Kind = "wrongly passed"
	Unexpected    Kind = "unexpected"
)

// Problem is one thing that is wrong.
type Problem struct {
	Kind Kind
	Text string
}

func (p Problem) String() string { return string(p.Kind) + ": " + p.Text }

// Judge returns what is wrong with an outcome.
func Judge(want Expectation, got Outcome) []Problem {
	var problems []Problem
	add := func(kind Kind, format string, args ...any) {
		problems = append(problems, Problem{Kind: kind, Text: fmt.Sprintf(format, args...)})
	}
	if got.Verdict == "" || got.Took > want.Within {
		add(Stuck, "not finished within %s", want.Within)
	}
	if got.Left != "" {
		add(Stuck, "%s is left", got.Left)
	}
	if got.Verdict != Gone {
		miscounted(want, got, add)
	}
	if got.Verdict == Passed {
		wronglyPassed(want, got, add)
	}
	switch {
	case got.Verdict == "", Busy(want, got):
	case !slices.Contains(want.Verdicts, got.Verdict):
		add(Unexpected, "verdict %s, want %s", got.Verdict, strings.Join(want.Verdicts, " or "))
	case !strings.Contains(got.Reason, want.Reason):
		add(Unexpected, "the reason lacks %q", want.Reason)
	}
	return problems
}

// miscounted compares the status with what the target counted.
func miscounted(want Expectation, got Outcome, add func(Kind, string, ...any)) {
	var missing int64
	if got.Missing != nil {
		missing = *got.Missing
	}
	if got.Received > got.Sent+missing {
		add(Miscounted, "the target received %d, the status has %d sent and at most %d missing", got.Received, got.Sent, missing)
	}
	if got.Received < got.Completed {
		add(Miscounted, "the target received %d, the status has %d completed", got.Received, got.Completed)
	}
	// A run that has not ended has not sent all.
	if want.Exact && got.Verdict != "" && !got.Exact() {
		add(Miscounted, "received %d of %d sent, due %d of %d planned; want them to be the same", got.Received, got.Sent, got.Due, got.Planned)
	}
}

// wronglyPassed looks for a reason why the run cannot have passed. What the status
// itself says was never sent is allowed, as far as the default threshold goes: 1%.
func wronglyPassed(want Expectation, got Outcome, add func(Kind, string, ...any)) {
	if unsent := min(max(0, got.Due-got.Sent), got.Planned/100); got.Received < got.Planned-unsent {
		add(WronglyPassed, "the target received %d of %d planned", got.Received, got.Planned)
	}
	if got.Wrong*100 > got.Planned {
		add(WronglyPassed, "the target answered %d of %d wrongly", got.Wrong, got.Planned)
	}
	if want.WorkerGone {
		add(WronglyPassed, "a worker was gone before the end")
	}
}
