// Package grpc serves the rate limiter over gRPC: Take decides as /api does over
// HTTP, is counted with it, and describes the bucket in trailers that are named as
// the headers there. Package v1 has the messages.
//
// It imports the domain, what the targets share and grpc-go; the limiter and a
// counter are in the service that it is handed.
package grpc
