// Command pause is the process that holds a pod's namespaces open: it reaps
// the orphans of its process namespace and ends at SIGTERM or SIGINT.
// The node's containerd runs it as the sandbox image, since nothing can be
// pulled from a registry. It may import the standard library only.
package main
