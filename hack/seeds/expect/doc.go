// Package expect says what is expected of each experiment, and compares it with the
// results:
//
//	expectation.go  an expectation, a finding, the sum of all
//	explained.go    why an expectation does not hold, where that is known
//	every.go        what is expected of every seed
//	seed000.go …    what is expected of one
//
// What does not hold is a surprise. It has an explanation in explained.go, in one
// place, or counts as unexplained.
//
// It is pure: records in, sentences out.
package expect
