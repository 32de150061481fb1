package dial

import (
	"context"
	"crypto/tls"
	"sync"
)

// Session is the TLS session of the connections of one place, one after the other: a later
// one resumes that of an earlier one. It keeps the last ticket, for the one target of a
// Dialer.
type Session struct {
	mu   sync.Mutex
	last *tls.ClientSessionState // nil: there is none
}

var _ tls.ClientSessionCache = (*Session)(nil)

// NewSession returns the session of a place; nil: handshakes are full ones, or there are none.
func (d *Dialer) NewSession() *Session {
	if d.tls == nil || !d.resume {
		return nil
	}
	return &Session{}
}

// Get returns what the target sent last.
func (s *Session) Get(string) (*tls.ClientSessionState, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last, s.last != nil
}

// Put keeps what the target has sent; nil forgets it.
func (s *Session) Put(_ string, state *tls.ClientSessionState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = state
}

type sessionKey struct{}

// Resuming returns the context for a connection that resumes a session, and leaves its own
// for the next; of a nil session, the context itself.
func Resuming(ctx context.Context, s *Session) context.Context {
	if s == nil {
		return ctx
	}
	return context.WithValue(ctx, sessionKey{}, s)
}

// tlsFor is the configuration of a connection.
func (d *Dialer) tlsFor(ctx context.Context) *tls.Config {
	s, _ := ctx.Value(sessionKey{}).(*Session)
	if s == nil {
		return d.tls
	}
	c := d.tls.Clone()
	c.ClientSessionCache = s
	return c
}
