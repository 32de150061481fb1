// Package websocket is a client of WebSocket (RFC 6455) that carries one request over each connection: it
// opens it, sends messages, reads those that come, and closes it.
//
//	Client, Conn   a transport.Client: a connection for each request
//	  └─ exchange    one request: the upgrade, the messages, the close
//	       │ decoder      bytes that came, in any pieces → messages, pings and a close
//	       │ appendFrame  a message → its frame, masked
//	       └─ event.Reader   what the messages that come are: the events of a stream
//
// The life of a request:
//
//	Conn.Do
//	  ├─ dial                       counted into its time
//	  ├─ upgrade                    a request of HTTP/1.1; another status than 101 is the response
//	  ├─ converse                   until the last message, a close, a limit or an error
//	  │    read → decode → tell the transport.Watcher → answer: pongs, the next message, a close
//	  │    sendEvery                beside it, if messages are sent by the clock
//	  └─ the server closes the connection, or is left LingerAfterUntil after the last message
//
// decoder, appendFrame and utf8Check know neither a connection nor a clock. No message is held, however long: what is
// compared with the last one is compared as it comes.
//
// Extensions are not offered. A server that uses one, that masks frames, or that breaks another rule of the RFC
// gets a close with the code of that rule, and the request counts as a bad response.
package websocket
