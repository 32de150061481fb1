// Package layout decides where everything of the cluster is: names, addresses
// and paths. It is pure: it makes no folder and opens no socket.
//
//	                       198.19.0.1  lt-control  API server, etcd, DNS
//	host ── routing ──┬──  198.19.1.1  lt-node-1 ── pods 198.19.1.2…
//	                  ├──  198.19.2.1  lt-node-2 ── pods 198.19.2.2…
//	                  └──  198.19.3.1  lt-node-3 ── pods 198.19.3.2…
//
// A node's address is its bridge's, so that all nodes may use the same ports
// and none of the host's own is taken. The ranges are those that RFC 2544
// reserves for benchmarks: no network that the host is in can clash with them.
//
// It imports the standard library only.
package layout
