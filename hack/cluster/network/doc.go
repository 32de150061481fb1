// Package network makes the cluster's links, routes and firewall rules on the
// host, and takes them away with those of kube-proxy and the CNI plugins.
//
//	filter  FORWARD     ─▶ LOADTEST-FORWARD      pods may be forwarded
//	nat     POSTROUTING ─▶ LOADTEST-POSTROUTING  pods leave under the host's address
//
//	ip loadtest-policies         the table of NetworkPolicies: kubernetes/enforcer
//
// A range without a route of its own is a black hole: packets to a node that
// has lost its power must vanish, and not leave through the host's uplink.
//
// Pure functions return the input of ip, iptables-restore and nft. It imports
// package layout only.
package network
