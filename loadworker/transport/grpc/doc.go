// Package grpc has the wire format of calls of gRPC, without I/O: how the messages of a
// request are framed, and how strictly a response is read.
//
//	message ── Compress ── Frame ──▶ the body of a request; Timeout is the value of grpc-timeout
//	header blocks ── Fields ─┐
//	bodies ──────────────────┴─▶ Call ── the status, the replies, or why they are none
//	what was kept of them ── Cut ── Decompress ──▶ one reply after another
//
// A response that is not as gRPC over HTTP/2 has it is an error, never a status: that a
// proxy answers in its place is not what the service says. What a call's status means for a
// result is decided in package measure.
//
// It imports packages transport and measure, and nothing else of ours.
package grpc
