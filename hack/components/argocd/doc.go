// Package argocd checks what we ship for Argo CD with Argo CD's own code: the Lua scripts of
// config/argocd, on statuses that our operator wrote. Its go.mod pins Argo CD, also for the
// programs of the cluster tests; see hack/components.
//
// A test that has something to show sets the attribute "seen", which makes it a check of
// make e2e SUITE=ecosystem.
package argocd
