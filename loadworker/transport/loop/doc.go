// Package loop drives many connections from one goroutine, on Linux: a request that
// waits is then some 200 bytes instead of a goroutine of its own, and a response costs
// one read instead of two.
//
//	Loop ── epoll ── read ── Protocol.Receive
//	  ├─ Conn      a socket: what is written when there is no room follows later
//	  ├─ Deadline  of a request; the nearest first. What comes may move it
//	  └─ dialling  in goroutines; the result comes to the loop as an event
//
// It has sockets and instants, and nothing of what is spoken: a Protocol takes the
// bytes of one connection as they arrive, and writes its own.
package loop
