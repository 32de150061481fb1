// Command operator puts the operator into the cluster under test, as a user does, and says at the
// end whether it may do what it needs and no more.
//
//	operator install             prints the instant since which only what was installed runs
//	operator rights INSTANT      compares its rights with what it has asked for since then
//
// With FULL=1 the tests use all rights: what it keeps in its own namespace is then made anew, and
// a right that was not used is an error.
package main
