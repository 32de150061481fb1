package nethttp

import (
	"context"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport/http1"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/scripted"
)

// inProxyEnvironment is set in the process that has proxies in its environment:
// net/http reads them once, so that they cannot be set in a test alone.
const inProxyEnvironment = "TRANSPORT_TEST_PROXY_ENVIRONMENT"

func TestProxiesOfTheEnvironmentAreNotUsed(t *testing.T) {
	if os.Getenv(inProxyEnvironment) != "" {
		sendPastTheEnvironment(t)
		return
	}
	f := scripted.NewProxy(t, "http://127.0.0.1:1")
	again := exec.Command(os.Args[0], "-test.run=^TestProxiesOfTheEnvironmentAreNotUsed$", "-test.count=1")
	again.Env = append(os.Environ(), inProxyEnvironment+"=1", "HTTP_PROXY="+f.URL, "HTTPS_PROXY="+f.URL, "http_proxy="+f.URL, "https_proxy="+f.URL, "NO_PROXY=", "no_proxy=")
	out, err := again.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "PASS") {
		t.Errorf("%v\n%s", err, out)
	}
	if asked := f.Requests(); len(asked) > 0 {
		t.Errorf("the environment's proxy was asked for %q", asked)
	}
}

func sendPastTheEnvironment(t *testing.T) {
	// Without a proxy in the environment, the test would prove nothing.
	request, err := http.NewRequest(http.MethodGet, "http://shop.test", nil)
	must.Succeed(t, err)
	if proxy, err := http.ProxyFromEnvironment(request); err != nil || proxy == nil {
		t.Fatalf("the environment has proxy %v, %v; want one", proxy, err)
	}
	here := func(context.Context, string) ([]netip.Addr, error) {
		return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
	}
	for name, config := range scripted.Protocols(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})) {
		config.URL, config.Lookup = shop(config.URL), here
		if config.TLS != nil {
			config.TLS.ServerName = "example.com"
		}
		d := scripted.NewDialer(t, config)
		clients := []transport.Client{NewClient(d, "")}
		if !config.HTTP2 {
			clients = append(clients, http1.NewClient(d, ""))
		}
		for _, c := range clients {
			conn := c.NewConn()
			if got, err := conn.Do(context.Background(), scripted.Get, scripted.Far()); err != nil || got.Status != http.StatusOK {
				t.Errorf("%s by %s: %d, %v; want 200", name, c.Name(), got.Status, err)
			}
			conn.Close()
		}
	}
}
