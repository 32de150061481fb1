// Package enforcer keeps the kernel's firewall as the cluster's NetworkPolicies
// say, for the pods of all nodes.
//
//	list policies, pods, namespaces ─▶ decide ─▶ chains ─▶ script ─▶ nft
//	          ▲                                                       │
//	          └──────────────── watch until one changes ◀─────────────┘
//
// A pod that a policy selects has a chain per direction, which lets through what
// some policy allows and drops the rest; no other pod's packets meet a rule.
// With no policy there is no table either, and only policies are watched. What
// is allowed is asked of every packet of a connection's first direction, so that
// a new policy also cuts connections that are there. A pod is governed, and a
// peer of others, a moment after its status has its address, and not before.
//
// As the nodes share the host, traffic between a pod and any node's own address
// counts as traffic with the pod's own node, which no policy governs: probes of
// kubelets, the API server, DNS. Such packets are not forwarded, and no rule
// sees them. Pods in the host's network are neither governed nor peers.
//
// decide and script are pure. The API server has filled in what a policy leaves
// out. The package imports collection and layout, and no client library.
package enforcer
