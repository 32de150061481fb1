// Command retest runs go test, and each test that failed again alone, three times.
//
//	retest -C DIR -v -flaky FILE -- FLAGS OF GO TEST -- PACKAGES
//
// A test that then passes each time failed by chance: the run goes on, and its name is added
// to a file, so that somebody makes it deterministic. A package that does not build, panics or
// runs out of time is not run again, nor is one of many failures: that is no chance.
//
// It is for this repository's own tests, and imports the standard library only.
package main
