// Package flux holds manifests that docs/flux.md is about, and tests that an API server takes
// them. The cluster tests have a real kustomize-controller apply them.
package flux
