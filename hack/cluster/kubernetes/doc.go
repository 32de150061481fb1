// Command kubernetes is a whole Kubernetes in one static binary: etcd, the
// control plane, kubelet, kube-proxy and kubectl, each under its own name.
//
//	kube-apiserver ──┐
//	kube-scheduler ──┼─▶ kubernetes ─▶ package multicall ─▶ the component's main
//	kubectl        ──┘   (symlinks)
//
// One binary, because the components share nine tenths of their code: it takes a
// quarter of the space and of the link time of seven. Flags, configuration and
// behaviour of a component are those of the release named in go.mod. Two of the
// names are ours: enforcer, for NetworkPolicies, and provisioner, for volumes.
//
// The requirements have the versions of the repository's other modules, so that Go
// compiles the packages that several of them need once.
//
// The module is apart from the program that runs the cluster so that
// k8s.io/kubernetes, whose go.mod needs a replacement for each of its staging
// modules, is in no other module graph.
package main
