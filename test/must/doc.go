// Package must ends a test at an error that the test is not about, and reports one that does not say what it must.
//
//	store, err := Open(path)
//	must.Succeed(t, err)
//
// It is for tests only and imports no other package of ours.
package must
