// Package enforcer keeps the kernel's firewall in step with the cluster's
// NetworkPolicies, for the pods of all nodes.
//
//	informers of policies, pods, namespaces ─▶ decide ─▶ chains ─▶ script ─▶ nft
//
// A pod that a policy selects has a chain per direction, which lets through what
// some policy allows and drops the rest; packets of other pods meet no rule.
// Without a policy there is no table. The rules check every packet of a
// connection's first direction, so that a new policy also cuts connections that
// exist. A pod is isolated, and a peer of others, shortly after its status has
// its address, and not before.
//
// As the nodes share the host, traffic between a pod and any node's own address
// counts as traffic with the pod's own node, which policies do not restrict:
// probes of kubelets, the API server, DNS. Such packets are not forwarded, and
// no rule matches them. Pods in the host's network are neither isolated nor peers.
//
// decide and script are pure. The API server has filled in the defaults of each
// policy.
package enforcer
