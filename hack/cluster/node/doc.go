// Package node runs the nodes: for each a containerd, a kubelet, a mount
// namespace and a CNI configuration of its own, so that nodes share nothing but
// the kernel and its network.
//
//	Start ─▶ containerd ─▶ pause image ─▶ kubelet
//	Stop  ─▶ kill all of it and cut the bridge, as in a power cut
//	Load  ─▶ import images that the node does not have yet
//
// config.go renders configurations and commands and is pure; the rest has effects.
// It imports layout, host, network, process, probe and hack/images, and nothing of
// the control plane, which writes the kubelet's kubeconfig and certificate.
package node
