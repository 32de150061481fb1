package websocket

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/failure"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport/event"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport/socket"
)

// readSize is the size of reads: there are 10,000 connections.
const readSize = 4 << 10

// exchange is one request over its connection. A goroutine reads and answers; with WebSocket.Every, another sends.
type exchange struct {
	of       *Conn
	net      net.Conn
	request  *transport.Request
	began    time.Time
	deadline time.Time

	from    bounded
	in      *bufio.Reader
	late    socket.LateReader
	decoder decoder
	events  event.Reader
	size    int64 // of the messages that came
	next    int   // of WebSocket.Send, unless they are sent by the clock
	answers []byte

	// closed says that the server's close has come, with a code and a reason.
	closed bool
	code   uint16
	reason string

	sending sync.WaitGroup
	stop    chan struct{} // ends what sends by the clock
	// writing is held by who writes. left says that nothing more is sent: this side has sent its close, or cannot.
	writing sync.Mutex
	left    bool
}

func newExchange(c *Conn, conn net.Conn, r *transport.Request, deadline time.Time) *exchange {
	x := &exchange{of: c, net: conn, request: r, began: time.Now(), deadline: deadline, stop: make(chan struct{})}
	x.from.from, x.from.left = readerFunc(x.read), -1
	x.in = bufio.NewReaderSize(&x.from, readSize)
	return x
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }

// read reads from the connection, also what had come by its deadline if the process stood still then.
func (x *exchange) read(b []byte) (int, error) {
	n, err := x.late.Read(x.net, b, x.of.SetDeadline)
	if n > 0 {
		return n, nil // an error that came with bytes comes again
	}
	return 0, err
}

// run is the whole request. Its error is a *failure.Error, or failure.ErrInterrupted.
func (x *exchange) run() (transport.Response, error) {
	defer close(x.stop)
	if !x.of.SetDeadline(x.deadline) {
		return transport.Response{}, failure.ErrInterrupted
	}
	key := newKey()
	if _, err := x.net.Write(appendUpgrade(nil, x.request, x.of.client.host, x.of.client.agent, key)); err != nil {
		return transport.Response{}, &failure.Error{Phase: failure.Writing, Err: err}
	}
	answer, err := readUpgrade(x.in, &x.from)
	if err != nil {
		return transport.Response{}, failed(err)
	}
	response := x.response(answer)
	if answer.StatusCode != http.StatusSwitchingProtocols {
		response.Size, err = io.Copy(io.Discard, answer.Body)
		if err != nil {
			return transport.Response{}, failed(err)
		}
		return response, nil
	}
	if err := checkUpgrade(answer.Header, key, x.request.WebSocket.Subprotocol); err != nil {
		return transport.Response{}, failed(err)
	}
	err = x.converse()
	streamed := x.events.Streamed()
	if err != nil {
		return transport.Response{Streamed: streamed}, err
	}
	if !streamed.Ended {
		streamed.Code, response.Message = x.code, x.reason
	}
	response.Size, response.Streamed = x.size, streamed
	return response, nil
}

// response is what a header says.
func (x *exchange) response(answer *http.Response) transport.Response {
	out := transport.Response{Status: answer.StatusCode}
	if x.request.KeepCookies {
		for _, value := range answer.Header["Set-Cookie"] {
			out.SetCookies = transport.AppendCookie(out.SetCookies, []byte(value))
		}
	}
	for _, name := range x.request.KeepFields {
		for _, value := range answer.Header[name] {
			out.Fields = transport.AppendField(out.Fields, x.request.KeepFields, name, value)
		}
	}
	return out
}

// failed is the failure of a request while it reads.
func failed(err error) error {
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return &failure.Error{Phase: failure.Reading, Err: err}
}

// converse sends the messages, and reads those that come, until the request is over. It returns why it has failed.
func (x *exchange) converse() error {
	w := x.request.WebSocket
	x.events.Begin(x.request, x.deadline.Sub(x.began))
	x.events.Header(http.StatusSwitchingProtocols, true)
	if w.Every > 0 {
		opened := time.Now()
		x.sending.Go(func() { x.sendEvery(opened) })
	} else {
		x.answer(true)
	}
	for {
		b, err := x.await()
		if err != nil {
			return x.ended(err)
		}
		if x.closed { // what follows a close is nothing (1.4); the server closes the connection
			x.discard(len(b))
			continue
		}
		came, err := x.take(b)
		x.discard(len(b))
		if err != nil {
			x.refuse(err)
			return failed(err)
		}
		if !x.move() {
			return failure.ErrInterrupted
		}
		x.answer(came)
		if x.closed && !x.events.Ended() {
			return nil
		}
	}
}

// await waits until something has come, and returns all of it.
func (x *exchange) await() ([]byte, error) {
	if _, err := x.in.Peek(1); err != nil {
		return nil, err
	}
	return x.in.Peek(x.in.Buffered())
}

func (x *exchange) discard(n int) { _, _ = x.in.Discard(n) } // they are buffered

// take takes what came by one read, and reports whether a message is whole by it.
func (x *exchange) take(b []byte) (came bool, err error) {
	for comes := true; comes && !x.closed; {
		var p piece
		if p, b, err = x.decoder.next(b); err != nil {
			break
		}
		switch p.kind {
		case more:
			comes = false
		case payload:
			x.size += int64(len(p.data))
			x.events.Body(p.data)
		case whole:
			came = true
			x.events.EndMessage()
		case pinged:
			x.answers = appendFrame(x.answers, pong, p.data)
		case closed:
			x.closed, x.code, x.reason = true, p.code, string(p.data)
		}
	}
	if x.events.Tell(0) {
		x.events.At(time.Since(x.began))
	}
	return came, err
}

// move sets the deadline of the connection. It returns false if the request is interrupted. Once the deadline has
// passed, only what had come by then is read: a server may send faster than it is read here.
func (x *exchange) move() bool {
	limit := x.began.Add(x.events.Limit())
	if time.Until(limit) > 0 {
		x.late = socket.LateReader{}
	}
	return x.of.SetDeadline(limit)
}

// answer sends what follows from what was read: pongs, the next message if one has come since the last one,
// and a close if the request is over. It sends all at once.
func (x *exchange) answer(came bool) {
	out := x.answers
	x.answers = x.answers[:0]
	w := x.request.WebSocket
	over := x.closed || x.events.Ended()
	if !over && came && w.Every == 0 && x.next < len(w.Send) {
		out = appendFrame(out, text, w.Send[x.next])
		x.next++
	}
	code := uint16(codeNormal)
	if x.closed {
		code = x.code
	}
	if len(out) > 0 || over {
		x.write(out, over, code)
	}
}

// write writes frames, and behind them a close, after which nothing is written. If it cannot, who reads finds out
// why: the server may have closed the connection, and the code of its close is still to be read.
func (x *exchange) write(out []byte, closes bool, code uint16) {
	x.writing.Lock()
	defer x.writing.Unlock()
	if x.left {
		return
	}
	if x.left = closes; closes {
		out = appendClose(out, code)
	}
	if _, err := x.net.Write(out); err != nil {
		x.left = true // a frame may be there in part
	}
}

// sendEvery sends the messages by the clock.
func (x *exchange) sendEvery(opened time.Time) {
	w := x.request.WebSocket
	timer := time.NewTimer(0)
	defer timer.Stop()
	var out []byte
	for i, message := range w.Send {
		timer.Reset(time.Until(opened.Add(time.Duration(i) * w.Every)))
		select {
		case <-x.stop:
			return
		case <-timer.C:
		}
		out = appendFrame(out[:0], text, message)
		x.write(out, false, 0)
	}
}

// refuse closes the connection for a rule that the server broke.
func (x *exchange) refuse(err error) {
	if v, ok := errors.AsType[*violation](err); ok && x.move() {
		x.write(nil, true, v.code)
	}
}

// ended is how the request ends with an error of its connection; nil: it has succeeded.
func (x *exchange) ended(err error) error {
	err = failed(err)
	switch {
	case x.of.IsInterrupted():
		return err
	case errors.Is(err, os.ErrDeadlineExceeded):
		if passed := x.events.Passed(); passed != nil {
			return failed(passed)
		}
		return nil
	case x.closed && x.events.Ended() && errors.Is(err, io.ErrUnexpectedEOF):
		return nil // as it should be
	case x.events.Broken(err):
		return nil
	}
	return err
}
