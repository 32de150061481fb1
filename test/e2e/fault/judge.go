package fault

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/pressure"
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
	// HandedOver says that the worker that is gone had the time to report all that it sent: the
	// status declares that nothing is missing.
	HandedOver bool
	// Reason is a part that the explanation of the verdict must have.
	Reason string
	// Silent is for how long the target answers nothing while it is asked: more than any
	// threshold allows.
	Silent time.Duration
	// Stood and Slowest are what the target must say of itself at least: for how long it stood
	// still, and how long its slowest answer took.
	Stood, Slowest time.Duration
	// Throttled says that the kernel must have held a worker back by its CPU limit, and that the
	// status must say so for at least as long.
	Throttled bool
	// Prompt bounds the target's own times, its slowest answer and for how long it stood
	// still together, of a target that breaches no threshold.
	Prompt time.Duration
}

// Outcome is what became of it.
type Outcome struct {
	// Verdict is empty if the run did not end within its bound.
	Verdict string
	// Reason explains the verdict, as the status does.
	Reason string
	// Took is the time from the fault to the end.
	Took time.Duration
	// Planned follows from the spec. The suite computes it by itself. 0: it is not known.
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
	// Slowest is the longest time that the target itself took for a request, beyond the
	// delay that it asked for, and Stood for how long the target's process stood still, in
	// all: both by its own clock.
	Slowest, Stood time.Duration
	// Limited says that the status leaves a threshold undecided for the generator's delay,
	// or for a load that it displaced.
	Limited bool
	// Displaced says that the status calls the load of a step displaced: whatever the target
	// did then, no threshold says so.
	Displaced bool
	// Down is for how long the target was down in a step by the status, which breaches a
	// threshold on downtime; 0: it breaches none.
	Down time.Duration
	// Throttled is for which part of the workers' time, in percent, their CPU limits held
	// them back, by the status: of the step with the largest part.
	Throttled float64
	// Held is the same part by the kernel's own count, read from outside while the fault lasted.
	Held float64
	// Pressure is what the machine says of the time from before the run to its end.
	Pressure pressure.Reading
}

// Exact says whether the status says what was received, and the whole plan was due.
// What it was due and not sent, the status says itself.
func (o Outcome) Exact() bool {
	return o.Received == o.Sent && (o.Due == o.Planned || o.Planned == 0)
}

// own is the longest time for which the target can have been down, by its own clock.
func (o Outcome) own() time.Duration { return o.Slowest + o.Stood }

// Busy says whether a run that could have passed has not for no other reason than a busy
// machine, which the machine says itself: nothing of the run is missing, and all but 5% was
// sent. That is no consequence of a fault; a step that begins too late is. Either the load
// was displaced, or the target stood still for as long as the status says that it was down, as
// it says itself. Of a run that should have failed, a displaced load is enough.
func Busy(want Expectation, got Outcome) bool {
	if !got.Pressure.Busy() || slices.Contains(want.Verdicts, got.Verdict) {
		return false
	}
	if got.Displaced && got.Verdict == Inconclusive && slices.Contains(want.Verdicts, Failed) {
		return true
	}
	could := slices.Contains(want.Verdicts, Passed) && !want.WorkerGone
	whole := got.Exact() && got.Wrong == 0 && (got.Due-got.Sent)*20 <= got.Due
	late := got.Verdict == Inconclusive && got.Limited
	return could && whole && (late || got.stoodStill())
}

// stoodStill says whether a run is Failed since the target was down, and the target says that it
// stood still for as long.
func (o Outcome) stoodStill() bool {
	return o.Verdict == Failed && strings.HasPrefix(o.Reason, v1beta1.ReasonTargetDown+":") && o.Down > 0 && o.own() >= o.Down
}

// Kind is a class of problems.
type Kind string

// The classes of problems.
const (
	Stuck         Kind = "stuck"
	Miscounted    Kind = "miscounted"
	WronglyPassed Kind = "wrongly passed"
	WronglyFailed Kind = "wrongly failed"
	Unexpected    Kind = "unexpected"
)

// Problem is one thing that is wrong.
type Problem struct {
	Kind Kind
	Text string
}

func (p Problem) String() string { return string(p.Kind) + ": " + p.Text }

// The status has two digits behind the point of a share in percent: lastDigit is what they may hide. The kernel
// counts until the fault is taken back, which may be a little after the step: apart is for this, as a part of it.
const apart, lastDigit = 0.01, 0.005

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
	unwitnessed(want, got, add)
	switch got.Verdict {
	case Passed:
		wronglyPassed(want, got, add)
	case Failed:
		wronglyFailed(want, got, add)
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

// unwitnessed compares what was done with what the target, and the kernel, say of it.
func unwitnessed(want Expectation, got Outcome, add func(Kind, string, ...any)) {
	if got.Stood < want.Stood || got.Slowest < want.Slowest {
		add(Unexpected, "the target stood still for %s and took %s at most, want %s and %s at least", got.Stood, got.Slowest, want.Stood, want.Slowest)
	}
	if want.Throttled && got.Verdict != "" && (got.Held == 0 || got.Throttled < got.Held-max(got.Held*apart, lastDigit)) {
		add(Unexpected, "the status says that workers were throttled for %v%% of their time, the kernel %.2f%%", got.Throttled, got.Held)
	}
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
	if want.HandedOver && (got.Missing == nil || missing > 0) {
		add(Miscounted, "at most %d are missing, where the worker had the time to report all", missing)
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
	if want.Silent > 0 {
		add(WronglyPassed, "the target was silent for %s", want.Silent)
	}
}

// wronglyFailed looks for a reason why the run may have failed, after a fault that is not
// the target's. If the target has all that was sent, and answered it well and at once by its
// own clock, there is none; nor if it is called down for longer than it saw itself.
func wronglyFailed(want Expectation, got Outcome, add func(Kind, string, ...any)) {
	if slices.Contains(want.Verdicts, Failed) || got.Wrong > 0 || got.Received < got.Sent {
		return
	}
	switch own := got.own(); {
	case own <= want.Prompt:
		add(WronglyFailed, "the target answered all %d, and took %s at most", got.Received, own)
	case own < got.Down:
		add(WronglyFailed, "the target is called down for %s, and was so for %s at most", got.Down, own)
	}
}
