package nethttp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/dial"
	"github.com/loadtest-dev/loadtest-operator/loadworker/failure"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport/socket"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// Pool is net/http's client with its own pool of connections, for requests that another
// library makes. What it adds is an outcome for each: a request that net/http sends again
// without saying so has failed, as it would have over a connection of a Client.
type Pool struct{ *Client }

// NewPool returns a pool whose connections a dialer opens.
func NewPool(d *dial.Dialer, agent string, keepAlive bool) *Pool {
	p := &Pool{NewClient(d, agent)}
	open := func(ctx context.Context, _, _ string) (net.Conn, error) {
		conn, err := d.DialWrapped(ctx, (&errorRecorder{}).wrap)
		if err == nil {
			p.opened.Add(1)
		}
		return conn, err
	}
	p.transport.DialContext, p.transport.DialTLSContext = open, open
	p.transport.MaxIdleConnsPerHost = math.MaxInt32 // as many as were needed
	if !keepAlive {
		p.transport.DisableKeepAlives = true
		p.name += ", no keep-alive"
	}
	return p
}

// NewConn returns a place for a request in flight: the pool has the connections.
func (p *Pool) NewConn() transport.Conn { return place{p} }

// URL is the scheme and host of the target.
func (p *Pool) URL() string { return p.target.Scheme() + "://" + p.target.Host }

// Header is that of a request, with a User-Agent.
func (p *Pool) Header(r *transport.Request) http.Header { return p.header(r) }

// Send sends a request whose path is that of q. It calls end once, when the response was
// read to its end, or with the *failure.Error.
func (p *Pool) Send(ctx context.Context, deadline time.Time, r *http.Request, q *transport.Request, end func(transport.Response, error)) (*http.Response, error) {
	ctx, expire := socket.WithDeadline(ctx, deadline)
	// What package context does not know it tells of a cancellation by a goroutine. Before that,
	// net/http has sent the request again.
	ctx, stop := context.WithCancel(ctx)
	cancel := func() { stop(); expire() }
	x := &pooled{ctx: ctx, cancel: cancel, end: end, stream: newStream(q, deadline, cancel), alone: !p.target.HTTP2}
	x.kept.Budget = q.Budget
	x.kept.Begin(q.Keep)
	r = r.WithContext(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: x.gotConn, WroteRequest: x.wroteRequest}))
	r.URL = p.url(q)
	response, err := p.transport.RoundTrip(r)
	if err != nil {
		return nil, x.finish(err)
	}
	x.status = response.StatusCode
	switch {
	case x.status < measure.MinStatus || x.status > measure.MaxStatus: // net/http takes any
		_ = response.Body.Close() // it is not read
		return nil, x.finish(transport.ErrStatus)
	case x.status == http.StatusSwitchingProtocols:
		_ = response.Body.Close() // what follows is no HTTP
		response.Body = http.NoBody
	}
	if err := x.stream.header(response); err != nil {
		_ = response.Body.Close() // it is not read
		return nil, x.finish(err)
	}
	response.Body = &pooledBody{ReadCloser: response.Body, request: x}
	return response, nil
}

// pooled is a request that goes through a pool.
type pooled struct {
	ctx    context.Context
	cancel context.CancelFunc
	end    func(transport.Response, error)
	once   sync.Once
	stream *stream
	whole  bool // it has ended without a failure
	kept   transport.Body
	size   int64
	status int
	alone  bool // it shares its connection with no other: HTTP/1.1

	mu     sync.Mutex
	socket *errorRecorder // of the connection that it went over
	reused bool
	// written says that it was sent, and again that it was given another connection
	// after that.
	written, again bool
}

func (x *pooled) gotConn(info httptrace.GotConnInfo) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.written {
		x.again = true
		x.cancel()
		if x.alone { // net/http looks at the context only when its other goroutine may have written the request
			_ = info.Conn.Close()
		}
	}
	x.reused = info.Reused
	conn := info.Conn
	if secured, ok := conn.(interface{ NetConn() net.Conn }); ok {
		conn = secured.NetConn()
	}
	if recorded, ok := conn.(*recordedConn); ok {
		x.socket = recorded.recorder
	}
}

func (x *pooled) wroteRequest(info httptrace.WroteRequestInfo) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.written = x.written || info.Err == nil
}

// finish ends the request, unless it has ended, and returns its failure.
func (x *pooled) finish(err error) (failed error) {
	x.once.Do(func() {
		x.mu.Lock()
		response := transport.Response{Reused: x.reused}
		failed = x.failure(err)
		x.mu.Unlock()
		response.Streamed, failed = x.stream.outcome(x.ctx, failed)
		if x.whole = failed == nil; x.whole {
			response.Status, response.Size = x.status, x.size
			response = x.kept.In(response)
		} else {
			x.kept.Free()
		}
		x.cancel()
		x.end(response, failed)
	})
	return failed
}

// failure is why the request failed, nil for the end of its response.
func (x *pooled) failure(err error) error {
	if errors.Is(err, io.EOF) && x.status > 0 {
		err = x.ctx.Err()
	}
	var known *failure.Error
	switch {
	case err == nil && !x.again, errors.As(err, &known):
		return err
	case x.again:
		err = fmt.Errorf("%w: net/http would have sent the request again", io.ErrUnexpectedEOF)
	case x.socket != nil:
		err = causeOf(err, x.socket)
	default:
		err = causeOf(err, &errorRecorder{})
	}
	return &failure.Error{Phase: failure.Reading, Err: err}
}

// pooledBody is the body of a response, whose end is that of the request.
type pooledBody struct {
	io.ReadCloser
	request *pooled
}

func (b *pooledBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	x := b.request
	x.size += int64(n)
	x.kept.Append(p[:n])
	x.stream.read(p[:n], errors.Is(err, io.EOF))
	if err != nil {
		if failed := x.finish(err); failed != nil {
			err = failed
		}
		if x.whole {
			err = io.EOF
		}
	}
	return n, err
}

// Close ends a request whose response was not read to its end.
func (b *pooledBody) Close() error {
	_ = b.request.finish(io.ErrUnexpectedEOF) // the one who closes has the error
	return b.ReadCloser.Close()
}

// place is a place for a request in flight. It is open always, and sends nothing.
type place struct{ pool *Pool }

var errPlace = errors.New("requests go through the pool")

func (place) Do(context.Context, *transport.Request, time.Time) (transport.Response, error) {
	return transport.Response{}, &failure.Error{Phase: failure.Dialing, Err: errPlace}
}
func (place) Open(context.Context, time.Time) error { return nil }
func (place) IsOpen() bool                          { return true }
func (place) Alive() bool                           { return true }
func (place) Interrupt()                            {}
func (place) Resume()                               {}

// Close closes the connections of the pool that carry no request.
func (p place) Close() { p.pool.transport.CloseIdleConnections() }
