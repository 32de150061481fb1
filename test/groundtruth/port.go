package groundtruth

import (
	"net"
	"sync"
)

// port is a listener that can be closed for a while, and its connections.
type port struct {
	server *Server

	mu       sync.Mutex
	changed  *sync.Cond
	listener net.Listener // nil: refused
	links    map[*link]struct{}
	ended    bool
}

var _ net.Listener = (*port)(nil)

func (s *Server) listen(address string) (*port, error) {
	p := &port{server: s, links: map[*link]struct{}{}}
	p.changed = sync.NewCond(&p.mu)
	var err error
	if p.listener, err = net.Listen("tcp4", address); err == nil {
		s.address = p.listener.Addr().String()
	}
	return p, err
}

// Accept returns the next connection.
func (p *port) Accept() (net.Conn, error) {
	for {
		listener := p.await()
		if listener == nil {
			return nil, net.ErrClosed
		}
		conn, err := listener.Accept()
		p.server.pass()
		if err != nil {
			p.lost(listener)
			continue
		}
		if c := p.admit(listener, conn); c != nil {
			return c, nil
		}
	}
}

// await waits until the port is open; nil: it will not be.
func (p *port) await() net.Listener {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.listener == nil && !p.ended {
		p.changed.Wait()
	}
	return p.listener
}

// lost ends the port if it failed by itself.
func (p *port) lost(listener net.Listener) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.listener == listener {
		p.listener, p.ended = nil, true
	}
}

// admit counts a connection, unless the port was closed meanwhile.
func (p *port) admit(listener net.Listener, conn net.Conn) net.Conn {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.listener != listener {
		_ = conn.Close()
		return nil
	}
	c := &link{Conn: conn, port: p}
	p.links[c] = struct{}{}
	p.server.counts.connections.Add(1)
	up(&p.server.counts.open, &p.server.counts.peak)
	return c
}

// refuse closes the port and all connections.
func (p *port) refuse() {
	p.mu.Lock()
	if p.listener != nil {
		_ = p.listener.Close()
		p.listener = nil
	}
	var all []*link
	for c := range p.links {
		all = append(all, c)
	}
	p.mu.Unlock()
	for _, c := range all {
		_ = c.Close()
	}
}

// reopen opens the port again.
func (p *port) reopen() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended || p.listener != nil {
		return
	}
	// The port is held: nothing but a lack of descriptors can take it, and then the server is at its
	// end anyway.
	listener, err := net.Listen("tcp4", p.server.address)
	if err != nil {
		p.ended = true
	} else {
		p.listener = listener
	}
	p.changed.Broadcast()
}

// Addr is where it listens.
func (p *port) Addr() net.Addr {
	a, _ := net.ResolveTCPAddr("tcp4", p.server.address) // it was listened on
	return a
}

// Close ends it, with all connections.
func (p *port) Close() error {
	p.mu.Lock()
	p.ended = true
	p.changed.Broadcast()
	p.mu.Unlock()
	p.refuse()
	return nil
}

// link is a connection. While the server stands still, nothing passes it.
type link struct {
	net.Conn
	port *port
	once sync.Once
}

func (c *link) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.port.server.pass()
	return n, err
}

func (c *link) Write(b []byte) (int, error) {
	c.port.server.pass()
	return c.Conn.Write(b)
}

// Close closes it, and counts that once.
func (c *link) Close() error {
	c.once.Do(func() {
		c.port.mu.Lock()
		delete(c.port.links, c)
		c.port.mu.Unlock()
		c.port.server.counts.open.Add(-1)
	})
	return c.Conn.Close()
}

// reset closes it by a reset.
func (c *link) reset() {
	_ = c.Conn.(*net.TCPConn).SetLinger(0)
	_ = c.Close()
}
