// Package manifest reads what kustomize renders of an overlay, and scales its load
// tests to a small machine:
//
//	manifest.go   YAML ⇄ load tests, and what they need
//	scale.go      a load test of the published size → one of two cores
//
// It is pure, and may import the API.
package manifest
