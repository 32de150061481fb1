// Package golden compares what a test has rendered with a file that a person
// can read and review: go test -update writes the files anew.
// It is for tests only and imports no other package of ours.
package golden
