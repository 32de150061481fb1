// Package argocd holds manifests that docs/argocd.md is about, and tests that an API server
// takes them. The cluster tests have a real Argo CD sync them.
package argocd
