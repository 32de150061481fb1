// Package argocd holds manifests that docs/argocd.md is about, and tests of what is in
// them. The cluster tests have a real Argo CD sync them.
package argocd
