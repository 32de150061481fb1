package transport

import "time"

// Stream is how a response that comes in parts, its events, is read.
type Stream struct {
	// Events is what its events are.
	Events EventFormat
	// Until is the data of the last event; empty: the last before the response ends is.
	Until string
	// Count is how many events end it; 0: their number does not.
	Count int64
	// Stall is the longest time between two events: after it, the response is given up with
	// failure.ErrStalled; 0: any.
	Stall time.Duration
	// Keep is how many bytes of the data of the latest event, Until's left out, are kept at most; those of an
	// event with more are not.
	Keep int
}

// EventFormat is what the events of a stream are.
type EventFormat uint8

const (
	// ServerSentEvents are those of text/event-stream that have data. What else stands between
	// them, such as comments that keep a connection open, is none.
	ServerSentEvents EventFormat = iota
	// Lines are the lines that are not blank; the last one may have no end.
	Lines
	// Chunks are the chunks of HTTP/1.1, and frames of DATA of HTTP/2, that are not empty. Of what
	// does not have them, each read is one.
	Chunks
	// Messages are those of a call of gRPC.
	Messages
	// WebSocketMessages are those of a connection of WebSocket, text and binary.
	WebSocketMessages
)

// LingerAfterUntil is how long the end of a response may take after its last event. Later, the client
// leaves: the response is whole, and its connection is closed.
const LingerAfterUntil = time.Second

// Watcher is told of the events of a response while it is read. It must not use the connection.
type Watcher interface {
	// Came says that so many more events have come whole, by one read. waited is how long the last bytes
	// of that read had been in this machine; 0: not known.
	Came(events int, waited time.Duration)
}

// Streamed is what came of a stream.
type Streamed struct {
	// Events is how many events came.
	Events int64
	// Ended says that the last of them was the one of Stream.Until, or of Stream.Count, and Left that the client did not
	// wait for the end of the response after it.
	Ended, Left bool
	// Code is that of the close with which a server of WebSocket has ended it before that; 0: there was none.
	Code uint16
}

// WebSocket is what is sent over a connection of WebSocket. Its slices belong to the caller.
type WebSocket struct {
	// Subprotocol is the one that the server must choose; "": none.
	Subprotocol string
	// Send are the messages, which are text. Every is the time from one to the next; 0: each but the first
	// waits for a message since the one before.
	Send  [][]byte
	Every time.Duration
}
