// Package storetest is the conformance suite of shortener.Store (Run), and a
// store in memory that keeps it (Memory), for tests of what stands on a store.
//
// It knows the domain and nothing of how links are kept; the package under
// test supplies that as a Factory.
package storetest
