// Command cluster runs a real Kubernetes with three nodes on one Linux host,
// built from source, without Docker and without an image registry.
//
//	main ─▶ commands ─▶ cluster ─┬─▶ controlplane ─▶ pki
//	            │                ├─▶ node
//	            └─▶ build        └─▶ network, host, process, probe, layout
//
// The components come from the module in the folder kubernetes, which package
// build compiles once and keeps. See cluster help.
package main
