// Package sink writes what a finished run came to where the administrator has it
// kept, and announces its verdict.
//
//	content.go      what is written, of a known size and sum
//	objectstore.go  a bucket of a store with the API of S3
//	volume.go       a folder
//	webhook.go      a POST for each verdict, signed
//	transport.go    how both connect: no redirect, no proxy, no address of the machine
//	problem.go      why something failed, in words that hold no secret
//
// Where to comes from the operator's configuration and from files of its pod, never from a
// LoadTest. It is independent of Kubernetes.
package sink
