// Package junit writes the report of a LoadTest as the XML that CI systems take for
// the result of tests.
//
//	test case     one for the verdict, each step, each threshold and each audit
//	property      what was run, and the figures of each step
//
// Its cases agree with the verdict: all of them pass if and only if the verdict is
// Passed. The verdict itself is a case, so that no other has to stand for it.
package junit
