// Command coredns is the cluster's DNS server: CoreDNS with the plugins that
// the cluster's Corefile uses and no others, which builds in a third of the
// time and size of the full list.
//
// It is a program of its own and not one of the multi-call binary's names,
// because CoreDNS registers flags such as -p and -version in the process-wide
// flag set that the Kubernetes components also publish.
package main
