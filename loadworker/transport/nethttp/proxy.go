package nethttp

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/dial"
	"github.com/loadtest-dev/loadtest-operator/loadworker/failure"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// proxy is an HTTP proxy in front of a target. A plain request names its target by
// the absolute form; for TLS, the proxy makes a tunnel by CONNECT. The proxy resolves
// the target's name. The proxy's own name is resolved by its dialer, which checks
// the address policy.
type proxy struct {
	*dial.Dialer              // of the connections to the proxy
	target       *dial.Dialer // makes the TLS handshake through the tunnel; dials nothing
	agent        string
}

var _ dialer = (*proxy)(nil)

func newProxy(target *dial.Dialer, agent, url string) (*proxy, error) {
	d, err := target.ForProxy(url)
	switch {
	case err != nil:
		return nil, err
	case d.Target().TLS:
		return nil, errors.New("proxy url: must be http://; https goes through it by CONNECT")
	case target.Target().HTTP2 && !target.Target().TLS:
		return nil, errors.New("proxy: HTTP/2 goes through a proxy over https only")
	}
	return &proxy{Dialer: d, target: target, agent: agent}, nil
}

// DialWrapped opens a connection to the proxy and, for TLS, through it.
func (p *proxy) DialWrapped(ctx context.Context, wrap func(net.Conn) net.Conn) (net.Conn, error) {
	conn, err := p.Dialer.DialWrapped(ctx, wrap)
	if err != nil || !p.target.Target().TLS {
		return conn, err
	}
	if err := p.tunnel(ctx, conn); err != nil {
		return nil, errors.Join(&failure.Error{Phase: failure.Tunnelling, Err: err}, conn.Close())
	}
	return p.target.Handshake(ctx, dial.Counting(ctx, conn))
}

// Handshakes are those with the target.
func (p *proxy) Handshakes() (times *measure.Histogram, resumed int64) {
	return p.target.Handshakes()
}

// NewSession is one with the target.
func (p *proxy) NewSession() *dial.Session { return p.target.NewSession() }

// tunnel has the proxy connect to the target. The end of ctx ends it.
func (p *proxy) tunnel(ctx context.Context, conn net.Conn) error {
	defer dial.Waiting(ctx)()
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	err := p.connect(conn)
	if !stop() {
		return ctx.Err()
	}
	return err
}

// connect asks for the tunnel and reads the answer.
func (p *proxy) connect(conn net.Conn) error {
	to := p.target.Target().Address()
	// An empty User-Agent is not sent.
	request := &http.Request{Method: http.MethodConnect, Host: to, URL: &url.URL{Opaque: to}, Header: http.Header{"User-Agent": {p.agent}}}
	if err := request.Write(conn); err != nil {
		return err
	}
	answer := bufio.NewReader(io.LimitReader(conn, transport.MaxHeader))
	response, err := http.ReadResponse(answer, request)
	switch {
	case err != nil:
		return withheld(err)
	case response.StatusCode != http.StatusOK:
		return failure.Withhold(response.Status, "the proxy answered %d %s", response.StatusCode, http.StatusText(response.StatusCode))
	case answer.Buffered() > 0:
		// Over TLS, the target waits for the client's first message.
		return errors.New("the proxy sent something before the target can have")
	}
	return nil
}
