package clientip

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// maxClient bounds the name of a client, which becomes a key of the store. An
// IPv6 address with an IPv4 tail has 45 characters.
const maxClient = 64

// HeaderForwardedFor is the header in which a proxy names the client.
const HeaderForwardedFor = "X-Forwarded-For"

var errClientName = errors.New("use 1 to 64 letters, digits and any of . : _ -")

// Trusted are the networks of the proxies whose X-Forwarded-For is believed.
type Trusted []netip.Prefix

// Client is the sender of the request, as Name says.
func (t Trusted) Client(r *http.Request) (string, error) {
	return t.Name(r.RemoteAddr, r.Header.Get(HeaderForwardedFor))
}

// Name is the first address of X-Forwarded-For if the peer is a trusted proxy,
// else the peer itself.
//
// The first address is what the client said of itself, which a proxy that
// appends leaves in place. That is what the experiment needs, where a load
// generator on one address plays many clients. It is not what a limiter on the
// open internet needs: there the proxy must overwrite the header.
func (t Trusted) Name(peer, forwardedFor string) (string, error) {
	host, _, err := net.SplitHostPort(peer)
	if err != nil {
		return "", fmt.Errorf("address of the peer: %w", err)
	}
	if !t.believes(host) {
		return host, nil
	}
	first, _, _ := strings.Cut(forwardedFor, ",")
	first = strings.TrimSpace(first)
	if first == "" {
		return host, nil
	}
	if len(first) > maxClient || strings.ContainsFunc(first, isNotName) {
		return "", fmt.Errorf("first address of %s: %w", HeaderForwardedFor, errClientName)
	}
	return first, nil
}

func (t Trusted) believes(host string) bool {
	addr, err := netip.ParseAddr(host)
	if err != nil {
		return false
	}
	// A listener on both families has an IPv4 peer as ::ffff:a.b.c.d.
	addr = addr.Unmap().WithZone("")
	for _, prefix := range t {
		if prefix.Contains(addr) {
			return true
		}
	}
	return false
}

func isNotName(r rune) bool {
	switch {
	case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9':
		return false
	}
	return !strings.ContainsRune(".:_-", r)
}
