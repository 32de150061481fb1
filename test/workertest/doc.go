// Package workertest has what the tests of a worker share: assignments, written by
// hand as a coordinator would send them, and a target that counts its requests.
//
// It imports the session's protocol, and nothing else of ours, so that tests inside
// a package of the worker may use it.
package workertest
