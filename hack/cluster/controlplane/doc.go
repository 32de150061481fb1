// Package controlplane runs etcd, the API server, the controller manager, the
// scheduler, and for the whole host one kube-proxy, one CoreDNS, one provisioner
// of volumes and one enforcer of NetworkPolicies.
//
//	Prepare ─▶ certificates, kubeconfigs, configuration files
//	StartAPI ─▶ etcd ─▶ kube-apiserver ─▶ /readyz
//	StartRest ─▶ controller manager, scheduler, kube-proxy, coredns, objects
//	          ─▶ provisioner, enforcer
//
// All of them listen on the control bridge's address. The argument lists and
// files are made by pure functions, in args.go and files.go.
//
// It imports layout, host, pki, process and probe, and no client library: its
// few calls of the API server are in client.go.
package controlplane
