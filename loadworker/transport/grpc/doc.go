// Package grpc has the wire format of unary calls of gRPC, without I/O: how the message of a
// request is framed, and how strictly a response is read.
//
//	message ── Frame ──▶ the body of a request; Timeout is the value of grpc-timeout
//	header blocks ── Fields ─┐
//	bodies ──────────────────┴─▶ Call ── the status, the reply, or why it is none
//
// A response that is not as gRPC over HTTP/2 has it is an error, never a status: that a
// proxy answers in its place is not what the service says. What a call's status means for a
// result is decided in package measure.
//
// It imports packages transport and measure, and nothing else of ours.
package grpc
