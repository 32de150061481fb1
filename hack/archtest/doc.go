// Package archtest keeps the architecture of this repository: which package
// may import which, that every package says what it is, and that our modules
// require the same versions.
//
//	rules.go    the rules, as a table
//	imports.go  the imports as they are (go list -deps), and the check
//	modules.go  the requirements of every go.mod, and the check
//
// It also fails when a rule is about no package any more. Imports of test
// files are free.
//
// It is used by its own tests only, and imports the standard library only.
package archtest
