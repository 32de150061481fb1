package assemble

import (
	"context"
	"net"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/scripted"
	"github.com/loadtest-dev/loadtest-operator/test/workertest"
)

// The target has a name that only the proxy knows, and what was sent is what the
// proxy and the target count.
func TestStepThroughAProxy(t *testing.T) {
	const users, each = 5, 4
	tests := map[string]struct {
		start     func(*httptest.Server)
		forwarded int
		tunnels   bool
	}{
		"http":  {start: (*httptest.Server).Start, forwarded: users * each},
		"https": {start: (*httptest.Server).StartTLS, tunnels: true},
	}
	for scheme, tt := range tests {
		t.Run(scheme, func(t *testing.T) {
			server := workertest.Serve(t, nil, tt.start)
			p := scripted.NewProxy(t, server.URL)
			c := testConfig()
			c.Lookup = func(_ context.Context, host string) ([]netip.Addr, error) {
				return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
			}
			a := workertest.Assignment(scheme+"://shop.test", workertest.Burst(0, users, each))
			a.Target.ProxyUrl, a.Target.Tls = p.URL, &workerv1.TLS{InsecureSkipVerify: true}
			got := run(t, prepared(t, a, c, ignore))
			if q := got.Requests[0]; q.Sent != users*each || q.Outcomes[measure.Success] != users*each || server.Served() != users*each {
				t.Errorf("sent %d, %d successes, served %d; want %d. %v", q.Sent, q.Outcomes[measure.Success], server.Served(), users*each, errorsOf(got))
			}
			// Prepare found the target through one tunnel more.
			least := int64(0)
			if tt.tunnels {
				least = got.ConnectionsOpened + 1
			}
			forwarded := slices.DeleteFunc(p.Requests(), func(asked string) bool { return strings.HasPrefix(asked, "CONNECT ") })
			if f, n := len(forwarded), int64(len(p.Requests())-len(forwarded)); f != tt.forwarded || n < least || (n > 0) != tt.tunnels {
				t.Errorf("the proxy forwarded %d requests and made %d tunnels, want %d and %d", f, n, tt.forwarded, least)
			}
			// A connection is kept, unless net/http is not let run for 50 ms after it
			// has written a request: then it closes it.
			if n := got.ConnectionsOpened; n < users || n >= users*each || got.Reused != users*each-n || got.Transport != "net/http HTTP/1.1 by proxy" {
				t.Errorf("%d connections by %q, %d requests on used ones; want %d that are kept, by net/http HTTP/1.1 by proxy", n, got.Transport, got.Reused, users)
			}
		})
	}
}
