// Package docs holds, by its tests, what the pages under docs/ say: every link leads
// somewhere, docs/README.md lists every page, every reason of a condition has an entry in
// docs/troubleshooting.md, every claim of docs/comparison.md names a manifest or a test.
//
// api/v1beta1 holds that the manifests of pages are accepted, and test/e2e that the
// commands of docs/tutorial.md do what it says. Both read a page by packages page and console.
package docs
