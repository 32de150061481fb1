// Command mutation measures how well the tests of the pure packages notice a fault: it changes a
// package in one place at a time, which makes a mutant, and runs the package's own tests. A
// mutant is killed if they fail or do not end; else it lived. It prints a line for each package,
//
//	mutation: package=controllers/judge/verdict killed=130 lived=2 equivalent=1 share=0.98
//
// and ends with an error if a share is below -least.
//
// What is changed (sites.go):
//
//   - a condition always holds, or never; an operand of && or || has no effect; && is ||
//   - < is <=, and a comparison or a call that is no condition is negated
//   - + is -, * is /, and the other way round; 0 is 1, and 1 is 0
//   - a call, an assignment, a count, a return, a break or a continue is left out
//
// All mutants of a package are in one test program: at each site it asks for the number of its
// mutant (switch.go.txt), which is in its environment, so that a mutant costs no build. The go
// command reads the changed files in the place of the real ones (-overlay), which stay as they are.
//
// Each test first runs alone, to tell for how much of a processor's time, and which sites it
// reaches: a mutant is tried with the tests that reach it and no others, from the quickest to the
// longest, or up to -within; of one that takes long, first each subtest by itself. What no test reaches
// has lived. Tests run with -short.
//
// A mutant that does what the original does is no fault. Those found are listed with the reason in
// equivalent.txt, and tried too: it is an error if a listed one is killed, or is not there.
package main
