// Command cluster runs a real Kubernetes with three nodes on one Linux host,
// built from source, without Docker and without an image registry.
//
//	main ─▶ commands ─▶ cluster ─┬─▶ controlplane ─▶ pki
//	            │                ├─▶ node ─────────▶ image
//	            ├─▶ build        └─▶ network, host, process, probe, layout
//	            └─▶ provisioner, enforcer ─▶ collection
//
// The components come from the module in the folder kubernetes, which package
// build compiles once and keeps; the provisioner of volumes is this program
// itself, and so is the enforcer of NetworkPolicies. See cluster help.
package main
