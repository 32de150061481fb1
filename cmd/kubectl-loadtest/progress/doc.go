// Package progress turns a LoadTest that runs into the lines that a person
// follows it by: a block for a terminal, a line for a log.
//
// It is pure: the time is an argument, and no terminal or client is known here.
// It may import the API and of the operator the pure packages plan and results.
package progress
