// Package flux holds manifests that docs/flux.md is about, and tests of what is in them.
// The cluster tests have a real kustomize-controller apply them.
package flux
