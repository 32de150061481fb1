// Package socket has what package net does not do with a socket: reads and writes that
// never wait, when bytes came, whether an idle connection is still open, and how a
// socket leaves the runtime's poller and returns to it; and it opens the connections of
// clients whose sockets do.
package socket
