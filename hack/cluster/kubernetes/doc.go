// Command kubernetes is a whole Kubernetes in one static binary: etcd, the
// control plane, kubelet, kube-proxy and kubectl, each under its own name.
//
//	kube-apiserver ──┐
//	kube-scheduler ──┼─▶ kubernetes ─▶ package multicall ─▶ the component's main
//	kubectl        ──┘   (symlinks)
//
// One binary, because the components share nine tenths of their code: it
// takes a quarter of the space and of the link time of seven. It owns nothing
// but the choice of the component; flags, configuration and behaviour are
// those of the release named in go.mod.
//
// The module is apart from the program that runs the cluster so that
// k8s.io/kubernetes, whose go.mod needs a replacement for each of its staging
// modules, is in nobody else's module graph.
package main
