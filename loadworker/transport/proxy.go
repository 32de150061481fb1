package transport

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"time"
)

// Tunnelling is the phase in which a proxy is asked for a way to the target.
const Tunnelling Phase = "CONNECT"

// Proxy is an HTTP proxy in front of a target. It is told where each plain
// request goes by the request's absolute form, and makes a tunnel for TLS by
// CONNECT. It resolves the target's name; its own is resolved, and the policy
// kept, by its dialer.
type Proxy struct {
	target *Dialer // of what is sent; it dials nothing
	dialer *Dialer // of the connections to the proxy
}

var _ way = (*Proxy)(nil)

// NewProxy returns the proxy at a URL in front of a dialer's target, which is
// refused if it is an address that might not be dialled.
func NewProxy(target *Dialer, url string) (*Proxy, error) {
	dialer, err := NewDialer(Config{URL: url, Agent: target.agent, Policy: target.policy, Lookup: target.resolver.lookup})
	switch {
	case err != nil:
		return nil, fmt.Errorf("proxy: %w", err)
	case dialer.tls != nil:
		return nil, errors.New("proxy url: must be http://; https goes through it by CONNECT")
	case target.http2 && target.tls == nil:
		return nil, errors.New("proxy: HTTP/2 goes through a proxy over https only")
	}
	if addr, err := netip.ParseAddr(target.resolver.host); err == nil {
		if err := target.policy.Check(addr); err != nil {
			return nil, fmt.Errorf("target url: %w", err)
		}
	}
	return &Proxy{target: target, dialer: dialer}, nil
}

// NewProxied returns a client that opens its connections through a proxy.
func NewProxied(p *Proxy) *NetHTTP {
	n := newNetHTTP(p.target, p)
	n.name += " by proxy"
	n.absolute = p.target.tls == nil
	return n
}

// Exhausted is how many attempts to connect to the proxy failed for want of a
// descriptor or a local port.
func (p *Proxy) Exhausted() (descriptors, ports int64) { return p.dialer.Exhausted() }

// Probe opens a connection and closes it. Behind the proxy it finds only targets
// over TLS: of others, nothing is known before a request.
func (p *Proxy) Probe(ctx context.Context) error {
	conn, err := p.dialWatched((&watch{}).into(ctx), "", "")
	if err != nil {
		return err
	}
	return conn.Close()
}

// dialWatched opens a connection to the proxy and, for TLS, through it.
func (p *Proxy) dialWatched(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := p.dialer.dialWatched(ctx, network, address)
	if err != nil || p.target.tls == nil {
		return conn, err
	}
	if err := p.tunnel(ctx, conn); err != nil {
		return nil, errors.Join(&Error{Phase: Tunnelling, Err: err}, conn.Close())
	}
	return p.target.secure(ctx, conn)
}

// tunnel has the proxy connect to the target.
func (p *Proxy) tunnel(ctx context.Context, conn net.Conn) error {
	// Whatever ends ctx ends what waits for the connection.
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	err := p.connect(conn)
	if !stop() {
		return ctx.Err()
	}
	return err
}

// connect asks for the tunnel and reads the answer.
func (p *Proxy) connect(conn net.Conn) error {
	to := net.JoinHostPort(p.target.resolver.host, strconv.Itoa(int(p.target.port)))
	ask := &Request{Method: http.MethodConnect, Path: []byte(to)}
	if _, err := conn.Write(ask.appendTo(nil, to, p.target.agent)); err != nil {
		return err
	}
	answer := bufio.NewReader(io.LimitReader(conn, maxHeader))
	response, err := http.ReadResponse(answer, &http.Request{Method: http.MethodConnect})
	switch {
	case err != nil:
		return err
	case response.StatusCode != http.StatusOK:
		return fmt.Errorf("the proxy answered %s", response.Status)
	case answer.Buffered() > 0:
		// A target over TLS waits for the client to begin.
		return errors.New("the proxy sent something before the target can have")
	}
	return nil
}
