package scripted

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Shop is the only host that a Proxy knows.
const Shop = "shop.test"

// Proxy is a proxy of HTTP on the way to one server, which it knows by the name of Shop. It
// notes what it is asked for.
type Proxy struct {
	*httptest.Server
	to string

	mu    sync.Mutex
	asked []string
}

// NewProxy starts a proxy to the server at a URL.
func NewProxy(t testing.TB, url string) *Proxy {
	t.Helper()
	_, to, _ := strings.Cut(url, "://")
	p := &Proxy{to: to}
	p.Server = httptest.NewServer(p)
	t.Cleanup(p.Close)
	return p
}

// Requests are the method and the target of each request so far.
func (p *Proxy) Requests() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.asked)
}

func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	p.asked = append(p.asked, r.Method+" "+r.RequestURI)
	p.mu.Unlock()
	switch {
	case r.URL.Hostname() != Shop:
		http.Error(w, "I do not know "+r.URL.Host, http.StatusBadGateway)
	case r.Method == http.MethodConnect:
		p.tunnel(w)
	default:
		(&httputil.ReverseProxy{Rewrite: func(q *httputil.ProxyRequest) {
			q.Out.URL.Scheme, q.Out.URL.Host = "http", p.to
		}}).ServeHTTP(w, r)
	}
}

// tunnel copies between the client and the server until either is done.
func (p *Proxy) tunnel(w http.ResponseWriter) {
	there, err := net.Dial("tcp", p.to)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	here, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		_ = there.Close()
		return
	}
	_, _ = io.WriteString(here, "HTTP/1.1 200 Connection established\r\nX-Proxy: yes\r\n\r\n")
	go func() {
		_, _ = io.Copy(there, here)
		_ = there.Close()
	}()
	_, _ = io.Copy(here, there)
	_ = here.Close()
}
