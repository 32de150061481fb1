package coordinator

import (
	"container/list"
	"errors"
	"net"
	"sync"
)

// maxStrangers is how many connections may be open without a session: each may be
// anyone's, and costs some 50 KB, and what it sends (maxOfStranger). A thousand workers, which may all come from one
// address if the cluster's network translates theirs, connect in the same second and
// have a session some milliseconds later.
const maxStrangers = 1024

// connections is a listener that bounds the connections without a session. When there
// are too many, the oldest of the address that has most of them is closed: a worker
// that connects needs a moment to open its session, so that it is among the youngest.
// However many connections an address holds, those of another come in.
type connections struct {
	net.Listener
	most int
	// closed is called for each that is closed, with the reason.
	closed func(rejection)
	// reception bounds what comes on them; nil: something else does.
	reception *reception

	mu sync.Mutex
	// open has the connections by the address and port of their other side.
	open map[string]*connection
	// strangers are those without a session by their address, the oldest first.
	strangers map[string]*list.List
	count     int
}

// connection is one of a listener.
type connection struct {
	net.Conn
	*receiving
	of   *connections
	name string
	// The rest is guarded by the mutex of the listener. sessions is how many it has: one,
	// and for a moment the one that takes over from it. namespace is theirs. place is in
	// the queue of its address; nil while it has a session, and once it is closed.
	sessions  int
	namespace string
	place     *list.Element
	closed    bool
}

func newConnections(lis net.Listener, most int, closed func(rejection), r *reception) *connections {
	return &connections{Listener: lis, most: most, closed: closed, reception: r, open: map[string]*connection{}, strangers: map[string]*list.List{}}
}

// Bounded returns a listener with at most that many connections open, which closes the
// oldest of the address that has most of them where there is one more.
func Bounded(lis net.Listener, most int) net.Listener {
	return newConnections(lis, most, func(rejection) {}, nil)
}

// Accept waits for a connection.
func (l *connections) Accept() (net.Conn, error) {
	accepted, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &connection{Conn: accepted, receiving: l.reception.receiving(), of: l, name: accepted.RemoteAddr().String()}
	if surplus := l.add(c); surplus != nil {
		l.closed(rejectStranger)
		_ = surplus.Close()
	}
	return c, nil
}

// add returns the connection that must go for it; nil: none.
func (l *connections) add(c *connection) *connection {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open[c.name] = c
	l.enqueue(c)
	if l.count <= l.most {
		return nil
	}
	var longest *list.List
	for _, queue := range l.strangers {
		if longest == nil || queue.Len() > longest.Len() {
			longest = queue
		}
	}
	return longest.Front().Value.(*connection)
}

// find returns the connection of a session by the address of its other side; nil: it
// is closed.
func (l *connections) find(name string) *connection {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open[name]
}

// claim says that a session of that namespace has the connection.
func (c *connection) claim(namespace string) {
	if c == nil {
		return
	}
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	c.sessions++
	c.namespace = namespace
	c.of.dequeue(c)
}

// release says that a session which had it is over.
func (c *connection) release() {
	if c == nil {
		return
	}
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	if c.sessions--; c.sessions == 0 {
		c.namespace = ""
		c.of.enqueue(c)
	}
}

// Read reads, once there is room for what comes.
func (c *connection) Read(b []byte) (int, error) {
	if err := c.admit(c.claimant(), func() { _ = c.Close() }); err != nil {
		if errors.Is(err, errFlood) {
			c.of.closed(rejectFlood)
		}
		return 0, err
	}
	n, err := c.Conn.Read(b)
	c.unhandled.Add(int64(n))
	return n, err
}

// claimant is the namespace of its session; empty: it has none.
func (c *connection) claimant() string {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	return c.namespace
}

// hangUp closes the connection.
func (c *connection) hangUp() {
	if c != nil {
		_ = c.Close()
	}
}

func (l *connections) enqueue(c *connection) {
	if c.closed {
		return
	}
	queue, ok := l.strangers[c.address()]
	if !ok {
		queue = list.New()
		l.strangers[c.address()] = queue
	}
	c.place = queue.PushBack(c)
	l.count++
}

func (l *connections) dequeue(c *connection) {
	if c.place == nil {
		return
	}
	queue := l.strangers[c.address()]
	queue.Remove(c.place)
	if queue.Len() == 0 {
		delete(l.strangers, c.address())
	}
	c.place = nil
	l.count--
}

// Close makes room for another.
func (c *connection) Close() error {
	c.of.remove(c)
	c.close()
	return c.Conn.Close()
}

func (l *connections) remove(c *connection) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c.closed = true
	l.dequeue(c)
	if l.open[c.name] == c {
		delete(l.open, c.name)
	}
}

// address is that of the other side, without its port.
func (c *connection) address() string {
	host, _, err := net.SplitHostPort(c.name)
	if err != nil {
		return c.name
	}
	return host
}
