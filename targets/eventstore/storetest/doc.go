// Package storetest is what every configuration of a store must keep (Run), and what
// a client finds kept over every protocol (RunFront).
//
// It is for tests only. It imports the domain, the standard library and
// go-cmp.
package storetest
