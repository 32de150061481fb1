// Package docs holds, by its tests, what the pages under docs/ say: every link leads
// somewhere, docs/README.md lists every page, every reason of a condition has an entry in
// docs/troubleshooting.md, every claim of docs/comparison.md names a manifest or a test, figures
// are those of records, versions those that are pinned, and targets of make exist.
//
// api/v1beta1 holds that the manifests of pages are accepted, cmd/kubectl-loadtest/command that
// their commands parse and their manifests can be planned, examples/shop and test/e2e that the
// commands of docs/first-half-hour.md and docs/tutorial.md do what these say. All read a page by
// packages page and console.
package docs
