// Package ecosystem has programs of other projects see our objects as people expect it: Argo CD,
// Flux, Prometheus and MinIO. It needs images that no other suite needs: make e2e SUITE=ecosystem.
package ecosystem
