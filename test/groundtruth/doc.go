// Package groundtruth is an HTTP server that records its own work. A load generator is
// judged by what this server counted and time-stamped, never by the generator's own
// count.
//
//	Server ─┬─ an event loop per core: HTTP/1.1 (Linux)
//	  │     └─ net/http: HTTP/1.1 over TLS; HTTP/2 over TLS and by prior knowledge, with gRPC
//	  ├─ Route ─┬─ Latency   when a request is answered: a known distribution
//	  │         └─ Reply     with which bytes: whole, slow, wrong, cut, none; a Frame; or a Stream
//	  ├─ Event     a stall, resets, refusals, GOAWAY or slow windows, at a known time
//	  ├─ Counters  requests, connections, in flight, streams and their events
//	  └─ Records   when each request came and was answered, and its events were written
//
// The first segment of a request's path names its route: of a call of gRPC, the service. A
// number at its end, or in a header field, is kept in the record, which so belongs to one
// request of the generator.
//
// A Stream is a response in events on a schedule, or the messages of a WebSocket. Stream.Due is that schedule, for a seed
// and the number of a request; Records have the times that became of it. Server-sent events,
// lines and chunks come from event loops and by net/http, messages of gRPC by net/http, and
// messages of WebSocket from event loops.
//
// All instants are of the kernel's monotonic clock, in nanoseconds: a process
// beside this one can compare them with its own.
//
// From event loops the server costs as little as it can, some 7 us a request, so that
// it is not the server that is measured. By net/http it costs several times as much, and
// gives whole responses, resets and, over HTTP/2, frames that are an error. The command
// under cmd is the same in a process of its own. It imports nothing of this module.
package groundtruth
