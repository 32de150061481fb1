// Command docs renders the pages under docs/ as static HTML with a navigation, which is
// what docs/README.md links to: run it by make docs. No page needs JavaScript or a server,
// and none is committed. A page is written to be read on GitHub; a link that leads out of
// docs/ leads to the repository.
//
// The tests of this package hold what the pages say: every link leads somewhere, every
// page is in the navigation, every reason of a condition has an entry in
// docs/troubleshooting.md, every claim of docs/comparison.md names a manifest or a test.
// That the manifests of pages are accepted is held by api/v1alpha1, and that the commands
// of docs/tutorial.md do what it says by test/e2e.
package main
