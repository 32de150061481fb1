// Command fuzz runs every fuzz target of this module, one after another, each for
// -time, and again, one after another, until all together have had -executions. It prints a line for each
// run and last
//
//	fuzz: 20 targets, 10000000 executions, 0 failures
//
// whose numbers are those that the go command prints. It ends with an error if a target
// fails: the input that made it fail is then in the target's testdata/fuzz, and fails
// in go test until it is mended. What else the fuzzers found interesting is in the go
// command's cache, and the next run begins with it.
//
// One worker fuzzes at a time (-parallel 1): two share no coverage for a second, and
// what times out on a busy machine is no failure of the code.
package main
