// Command retest runs go test, and each test that failed again alone, three times.
//
//	retest -C DIR -v -budget 12m -results FILE -- FLAGS OF GO TEST -- PACKAGES
//
// A test that then passes each time failed by chance: the run goes on, and its name is added
// to a file, to be made deterministic. Nothing is run again after what is no
// chance:
//
//   - a package does not build, panics, runs out of time, or has a data race;
//   - a test begins and does not end, as another one ended the process;
//   - more tests fail than do by chance;
//   - a package prints a line that begins with "retest: never", as its TestMain failed for a
//     reason that no test has.
//
// A test that is skipped when it runs alone has not passed. When the budget is used up, what
// failed has failed.
//
// With -v, the last lines of each test that failed are printed again at the end.
//
// The last line says what became of the tests, and is added to the file, too:
//
//	tests: 120 passed, 0 failed, 3 skipped, 1 flaky
//
// A test with subtests is counted as these. What did not end has failed, and so has a package
// that failed without a test that did.
//
// It is for this repository's own tests, and imports the standard library only.
package main
