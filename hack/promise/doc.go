// Command promise compares the definitions of our resources with those of the last release, and
// fails on what docs/api-promise.md forbids. The comparison is that of sigs.k8s.io/crdify. What it
// cannot judge, such as another rule or pattern, passes if the changelog names the field under
// Unreleased, so that a person has looked at it and users are told.
package main
