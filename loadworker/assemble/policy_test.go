package assemble

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/address"
	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/workertest"
)

// permissive is a policy that permits every address.
func permissive() *address.Current {
	p := &address.Current{}
	p.Set(address.Policy{AllowSpecial: true})
	return p
}

// Whatever drives, over whatever protocol, with or without a proxy: an address that is not
// permitted is not connected to.
func TestNothingDialsPastThePolicy(t *testing.T) {
	for _, protocol := range []string{"HTTP/1.1", "HTTP/1.1 over TLS", "HTTP/2", "HTTP/2 over TLS"} {
		for name, change := range map[string]func(*workerv1.Assignment){
			"by us":           func(*workerv1.Assignment) {},
			"by us, one-shot": func(a *workerv1.Assignment) { a.Target.DisableKeepAlive = true },
			"by vegeta":       func(a *workerv1.Assignment) { a.Driver = workerv1.Driver_DRIVER_VEGETA },
			"by vegeta, one-shot": func(a *workerv1.Assignment) {
				a.Driver, a.Target.DisableKeepAlive = workerv1.Driver_DRIVER_VEGETA, true
			},
			"by a proxy": func(a *workerv1.Assignment) { a.Target.ProxyUrl, a.Target.Url = a.Target.Url, "http://shop.test" },
			"users":      func(a *workerv1.Assignment) { a.Steps[0] = workertest.Burst(0, 4, 2) },
			"to another destination": func(a *workerv1.Assignment) {
				a.Target.Destinations = &workerv1.Destinations{Allowed: []*workerv1.Destination{{Range: "127.0.0.0/8"}, {}}}
			},
		} {
			t.Run(protocol+" "+name, func(t *testing.T) {
				s, target := served(t, protocol)
				target.AllowSpecialAddresses = false
				a := workertest.Assignment("", arrivals())
				a.Target = target
				if change(a); a.Target.ProxyUrl != "" && protocol != "HTTP/1.1" {
					t.Skip("proxies are spoken to by HTTP/1.1")
				}
				x, err := New(t.Context(), a, testConfig(), ignore)
				must.Succeed(t, err)
				t.Cleanup(x.Close)
				got := run(t, x) // as if the check before the step had been passed
				if s.Served() != 0 || got.Requests[0].Outcomes[measure.Success] != 0 || got.Requests[0].Sent == 0 {
					t.Errorf("served %d; outcomes %v", s.Served(), got.Requests[0].Outcomes)
				}
			})
		}
	}
}

// What is sent before the steps keeps to the policy as well.
func TestPreflightSetupAndAuditsKeepToThePolicy(t *testing.T) {
	s := workertest.NewTarget(t, nil)
	a := workertest.Assignment(s.URL, workertest.Burst(0, 1, 1))
	a.Target.AllowSpecialAddresses = false
	a.Preflight = []*workerv1.Request{{Name: "q", Method: "GET", Path: "/"}}
	a.Setup = &workerv1.Setup{}
	a.Audits = []*workerv1.Audit{{Read: &workerv1.Request{Name: "n", Method: "GET", Path: "/"}, Value: ".n"}}
	x, err := New(t.Context(), a, testConfig(), ignore)
	must.Succeed(t, err)
	t.Cleanup(x.Close)
	if err := x.sides[0].preflight.Ask(t.Context()); err == nil || !strings.Contains(err.Error(), "a loopback address") {
		t.Errorf("the preflight: %v", err)
	}
	if err := x.sides[0].setup.config.Client.Probe(t.Context()); err == nil || !strings.Contains(err.Error(), "a loopback address") {
		t.Errorf("the setup: %v", err)
	}
	if s.Served() != 0 {
		t.Errorf("served %d", s.Served())
	}
}

// A redirection holds for the next connection, also of a worker that still prepares.
func TestRedirectionReplacesWhatIsPermitted(t *testing.T) {
	a := workertest.Assignment("http://shop.test:1", workertest.Burst(0, 1, 1))
	a.Target.AllowSpecialAddresses = false
	a.Target.Destinations = &workerv1.Destinations{}
	access, err := NewAccess(a)
	must.Succeed(t, err)
	to := netip.MustParseAddrPort("10.0.0.1:1")
	if access.target.Check(to) == nil {
		t.Error("permitted before the redirection")
	}
	must.Succeed(t, access.Redirect(a, &workerv1.Redirect{Target: &workerv1.Destinations{Allowed: []*workerv1.Destination{{Range: "10.0.0.1/32", Port: 1}}}}))
	if err := access.target.Check(to); err != nil {
		t.Errorf("after the redirection: %v", err)
	}
	if err := access.Redirect(a, &workerv1.Redirect{Target: &workerv1.Destinations{Allowed: []*workerv1.Destination{{Range: "10.0.0.1"}}}}); err == nil {
		t.Error("a range that is none was taken")
	}
	if err := access.target.Check(to); err != nil {
		t.Errorf("after a redirection that was refused: %v", err)
	}
}
