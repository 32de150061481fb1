// Command mutation measures how well the tests of the pure packages notice a fault: it
// has gremlins change an operator at a time and runs the package's own tests. It prints
// a line for each package,
//
//	mutation: package=controllers/verdict killed=130 lived=2 timed-out=0 efficacy=98.5 covered=99.3
//
// and ends with an error if a package misses a bar: 97 % of the mutants that ran are
// killed (efficacy), and 95 % of all ran (covered).
//
// gremlins runs a mutant only where the coverage of the tests reaches. Go's coverage
// leaves out the conditions of a switch's cases and the values of package variables.
// gremlins also takes a mutant that does not compile for one that a test killed. This
// command is its own program in the place of the go command, for gremlins alone: it adds
// the missing lines to the profile (widen), builds the tests of a mutant and runs them,
// those that take long after the others (try), and returns another code if no test failed
// (stand). A mutant whose tests time out counts as neither killed nor lived; gremlins
// calls it not viable.
//
// Tests run with -short, in which random orders and cases are fewer: a mutant that only the
// rest of them would kill counts as one that lived.
//
// Results are kept in the user's cache (kept): a run that was interrupted goes on, and
// one with further tests tries only what lived.
package main
