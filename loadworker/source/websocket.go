package source

import (
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport/websocket"
)

// WebSocket is what is sent over a connection of WebSocket.
type WebSocket struct {
	// Subprotocol is the one that the target must choose; "": none.
	Subprotocol string
	// Send are the messages, which are templates of text.
	Send []string
	// Every is the time from one to the next; 0: each waits for a message since the one before.
	Every time.Duration
}

// socket is a compiled WebSocket.
type socket struct {
	subprotocol string
	every       time.Duration
	send        []*Template
}

// compileSocket compiles what is sent over the connection that a request opens.
func (c compiler) compileSocket(r Request, out *request) error {
	if r.Stream == nil || r.Stream.Events != transport.WebSocketMessages || r.Stream.Until == "" && r.Stream.Count < 1 {
		return errors.New("webSocket: which message is the last one must be known")
	}
	for _, h := range r.Headers {
		if websocket.IsReserved(h.Name) {
			return fmt.Errorf("header %q: follows from webSocket; leave it out", h.Name)
		}
	}
	out.socket = &socket{subprotocol: r.WebSocket.Subprotocol, every: r.WebSocket.Every}
	for i, message := range r.WebSocket.Send {
		template, err := c.template(out, message, inBody)
		if err != nil {
			return fmt.Errorf("webSocket.send[%d]: %w", i, err)
		}
		out.socket.send = append(out.socket.send, template)
	}
	return nil
}

// renderSocket renders the messages of a request. One with a value that is not UTF-8, which a target would have to
// refuse, cannot be sent. The error does not show it: it may be secret.
func (b *Buffer) renderSocket(r *request, v Vars) {
	b.socket.Subprotocol, b.socket.Every, b.socket.Send = r.socket.subprotocol, r.socket.every, b.socket.Send[:0]
	for i, template := range r.socket.send {
		message := b.render(template, v)
		if !utf8.Valid(message) {
			b.Request.Err = fmt.Errorf("request %q: webSocket.send[%d]: a variable has a value that is not UTF-8, which text messages must be", r.name, i)
		}
		b.socket.Send = append(b.socket.Send, message)
	}
	b.Request.WebSocket = &b.socket
}
