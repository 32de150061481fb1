// Package pki makes the cluster's certificates and keys, and the kubeconfigs
// that carry them. Everything is made anew for each cluster and dies with it.
//
//	cluster CA ─┬─ servers: API server, kubelets
//	            └─ clients: one per component, and the administrator
//	etcd CA ────── etcd, and the API server as its only client
//	proxy CA ───── the API server towards aggregated APIs
//	token key ──── service-account tokens
//
// It returns bytes and writes no file. Time is an argument. It imports the
// standard library and a YAML encoder only.
package pki
