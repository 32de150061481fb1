// Package archtest keeps the architecture of this repository: which package
// may import which, that every package says what it is, that our modules
// require the same versions, and that the tree is as PROJECT says.
//
//	rules.go    the rules, as a table
//	imports.go  the imports as they are (go list -deps), and the check
//	modules.go  the requirements of every go.mod, and the check
//	layout.go   where PROJECT says that things are
//	docs.go     the comment of each package
//
// It also fails when a rule is about no package any more. Imports of test
// files are free.
//
// It is used by its own tests only, and imports the standard library only.
package archtest
