package event

import (
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/failure"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// Reader reads the events of one response. The zero value, and nil, reads none. All times are since the
// same instant, which is the client's.
type Reader struct {
	stream   transport.Stream
	watcher  transport.Watcher
	splitter splitter
	body     bool // that of the response has begun, and has events
	came     int  // events of the read that is being taken
	events   int64
	left     bool

	deadline time.Duration // of the request
	limit    time.Duration
}

// Begin prepares for the response to a request, which has a deadline.
func (r *Reader) Begin(q *transport.Request, deadline time.Duration) {
	*r = Reader{stream: *q.Stream, watcher: q.Watcher, deadline: deadline, limit: deadline, splitter: splitter{kept: r.splitter.kept}}
	r.splitter.kept.begin(0)
}

// Header says that the body begins. chunks says that it is in chunks, whose ends EndChunk tells. Only the
// body of a success has events: that of another response says what went wrong. The messages of WebSocket are
// no body, but what follows its status.
func (r *Reader) Header(status int, chunks bool) {
	if r.body = status >= http.StatusOK && status < http.StatusMultipleChoices || status == http.StatusSwitchingProtocols; r.body {
		r.splitter.begin(&r.stream, chunks)
	}
}

// Encoded says how the body is encoded, by Content-Encoding, before Header. Of a compressed body, bytes tell
// nothing of its events: some would be the end of a line.
func (r *Reader) Encoded(status int, encoding string) error {
	if r == nil || status < http.StatusOK || status >= http.StatusMultipleChoices || encoding == "" || strings.EqualFold(encoding, "identity") {
		return nil
	}
	return failure.ErrEncoded
}

// Body takes a piece of the body.
func (r *Reader) Body(b []byte) {
	if r.body {
		r.came += r.splitter.take(b)
	}
}

// EndChunk says that a chunk that is not empty has come whole.
func (r *Reader) EndChunk() {
	if r.body {
		r.came += r.splitter.endChunk()
	}
}

// EndMessage says that a message of WebSocket has come whole.
func (r *Reader) EndMessage() {
	if r.body {
		r.came += r.splitter.endMessage()
	}
}

// Ended says whether the last event has come.
func (r *Reader) Ended() bool { return r.splitter.ended }

// End says that the response is whole.
func (r *Reader) End() {
	if r.body {
		r.came += r.splitter.endBody()
		r.came += r.splitter.endRead()
		r.body = false
	}
}

// Tell ends a read, and tells the watcher how many events came by it. waited is how long its last bytes
// had been in this machine; 0: not known. timed says that At must be called: it matters when that was.
func (r *Reader) Tell(waited time.Duration) (timed bool) {
	if r.body {
		r.came += r.splitter.endRead()
	}
	n := r.came
	if n == 0 {
		return false
	}
	r.came = 0
	r.events += int64(n)
	if r.watcher != nil {
		r.watcher.Came(n, waited)
	}
	return r.stream.Stall > 0 || r.splitter.ended
}

// At says when the events came that Tell told of. It reports whether that brings the Limit nearer. Later
// events move it away: what waits for a Limit need not be told of a later one before it has passed.
func (r *Reader) At(now time.Duration) (nearer bool) {
	before, patience := r.limit, r.stream.Stall
	if r.splitter.ended {
		patience = transport.LingerAfterUntil
	}
	r.limit = min(r.deadline, now+patience)
	return r.limit < before
}

// Limit is the instant until which the rest is awaited.
func (r *Reader) Limit() time.Duration { return r.limit }

// Passed ends a response of which nothing more came until its Limit: it returns why the request has
// failed, or nil if the last event had come, so that it has succeeded.
func (r *Reader) Passed() error {
	switch {
	case r.splitter.ended:
		r.left = true
		return nil
	case r.limit < r.deadline:
		return failure.ErrStalled
	default:
		return os.ErrDeadlineExceeded
	}
}

// Broken reports whether a request has succeeded although its response is not whole: after the last
// event, the server closed the connection, or reset it or the stream. err is what it was read with.
func (r *Reader) Broken(err error) (success bool) {
	if r == nil || !r.splitter.ended || failure.Classify(err) != measure.Reset {
		return false
	}
	r.left = true
	return true
}

// Data are those of the latest event, if they are kept, until the next Begin.
func (r *Reader) Data() []byte {
	if r == nil {
		return nil
	}
	return r.splitter.kept.latest
}

// Streamed is what came. Of a nil Reader, it is nothing.
func (r *Reader) Streamed() transport.Streamed {
	if r == nil {
		return transport.Streamed{}
	}
	return transport.Streamed{Events: r.events, Ended: r.splitter.ended, Left: r.left}
}
