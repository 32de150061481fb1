// Package expect says what is expected of each experiment, and compares it with the
// results:
//
//	expectation.go  an expectation, a finding, the sum of all
//	evidence.go     the rungs that a judgement rests on, and how sides are compared
//	explained.go    why an expectation does not hold, as far as that is known
//	check.go        what must be so of every result, or the run failed
//	seed000.go …    what is expected of one seed
//
// A judgement is over the repetitions: a side is certainly more than another if package
// statistics says so. It has three outcomes. An expectation that the repetitions refute is
// a surprise, which has an explanation in explained.go or counts as unexplained. One that
// they do not decide, or that rests on rungs in which the machine was the limit, is not
// decided.
//
// It is pure: records in, sentences out.
package expect
