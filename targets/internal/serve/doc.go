// Package serve is the life of a target's HTTP server: from the listener to the
// last request in flight, and what memory it has for that.
//
// It imports the standard library only.
package serve
