// Package serve runs a target: its command, and the life of its HTTP server,
// from the listener to the last request in flight, with the memory for that.
//
// It imports the standard library only.
package serve
