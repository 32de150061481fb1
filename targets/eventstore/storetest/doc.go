// Package storetest is what every configuration of a store must keep: one suite
// for all of them.
//
// It is for tests only. It imports the domain, the standard library and
// go-cmp.
package storetest
