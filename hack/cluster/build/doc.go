// Package build says how the components of the cluster are compiled from the module
// beside this one, and where they are kept:
//
//	<cache>/kubernetes-<hash>/
//	    kubernetes              the multi-call binary
//	    etcd, kube-apiserver, …  links to it
//	    coredns, pause
//
// How a module is compiled and kept is the business of hack/components/build.
package build
