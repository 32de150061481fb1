// Package podreader reads the pods behind the Service of a target, and their autoscaler, for
// package targetstate, which is pure and compares what was read.
//
//	reader.go  what is asked of the API server, within two seconds
//	pod.go     what is kept of a pod: nothing of its environment or its volumes
package podreader
