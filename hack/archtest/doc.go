// Package archtest keeps the architecture of this repository: which package
// may import which, and that every package says what it is.
//
//	rules.go    the rules, as a table
//	imports.go  the imports as they are (go list -deps), and the check
//
// The linter's depguard shows a direct import while it is written; this test
// also sees what comes with it, and fails when a rule no longer speaks of any
// package, which a linter cannot. Imports of test files are free.
//
// It is used by its own tests only, and imports the standard library only.
package archtest
