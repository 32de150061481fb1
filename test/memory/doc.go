// Package memory connects the two sides of a test without sockets, so that a bubble of
// testing/synctest sees who waits for whom, and advances its clock only when all has happened
// that can.
package memory
