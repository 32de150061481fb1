// Package manifest reads what kustomize renders of an overlay, and scales its load
// tests and the limits of their target to a small machine:
//
//	manifest.go   YAML ⇄ load tests, and what they need
//	scale.go      a load test of the published size → one of two cores, repeated
//	limits.go     the limits of a target, scaled by the same factor
//	length.go     how long it takes
//
// It is pure, and may import the API and the operator's plan.
package manifest
