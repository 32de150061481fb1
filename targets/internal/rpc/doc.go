// Package rpc is the gRPC side of a target: a server with reflection and health,
// what its calls have in common, and the descriptors of its messages.
//
// It imports grpc-go and its libraries, and what the targets share.
package rpc
