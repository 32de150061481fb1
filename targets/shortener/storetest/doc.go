// Package storetest is the conformance suite of shortener.Store (Run).
//
// It imports the domain and nothing of how links are kept; the package under
// test supplies that as a Factory.
package storetest
