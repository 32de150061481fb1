// Package build compiles the components of the cluster from the module beside
// this one and keeps them:
//
//	<cache>/kubernetes-<hash>/
//	    kubernetes              the multi-call binary
//	    etcd, kube-apiserver, …  links to it
//	    coredns, pause
//
// The hash is of everything that goes into the build: the module's files, the
// flags and the Go release. A folder with that name is complete, because it
// gets the name last; a second build is therefore a look at the file system.
//
// It imports the standard library only.
package build
