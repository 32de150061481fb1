package assemble

import (
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/loadworker/health"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/workertest"
)

// withOther is an assignment with a second request, which goes to another target.
func withOther(url, other string, steps ...*workerv1.Step) *workerv1.Assignment {
	a := workertest.Assignment(url, steps...)
	a.OtherTargets = []*workerv1.Target{{Url: other, TimeoutNanos: int64(10 * time.Second), AllowSpecialAddresses: true}}
	a.Requests = append(a.Requests, &workerv1.Request{Name: "token", Method: "GET", Path: "/token", Weight: 1, Target: 1})
	return a
}

// Each request goes to its target, over a connection of its user to that target, whose outcomes
// are its own.
func TestRequestsAreSentToTheirTarget(t *testing.T) {
	for name, step := range map[string]*workerv1.Step{"users": workertest.Burst(0, 3, 4), "arrivals": arrivals()} {
		t.Run(name, func(t *testing.T) {
			shop := workertest.NewTarget(t, nil)
			identity := workertest.NewTarget(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) })
			x := prepared(t, withOther(shop.URL, identity.URL, step), testConfig(), ignore)
			if n := x.Targets(); n != 2 {
				t.Errorf("%d targets, want 2", n)
			}
			m := run(t, x)
			total, err := m.Total()
			must.Succeed(t, err)
			toShop, toIdentity := &m.Requests[0], &m.Requests[1]
			if a, b := shop.Served(), identity.Served(); a != toShop.Sent || b != toIdentity.Sent || a == 0 || b == 0 || a+b != total.Sent {
				t.Errorf("the targets served %d and %d; %d and %d were sent, %d in all", a, b, toShop.Sent, toIdentity.Sent, total.Sent)
			}
			if toShop.Expected != toShop.Sent || toIdentity.Expected != 0 || toIdentity.StatusCodes[http.StatusUnauthorized] != toIdentity.Sent {
				t.Errorf("%d of %d and %d of %d were expected, with the statuses %v", toShop.Expected, toShop.Sent, toIdentity.Expected, toIdentity.Sent, toIdentity.StatusCodes)
			}
		})
	}
}

// A target that is gone fails the requests that go to it, and no others.
func TestTargetThatIsGoneFailsItsOwnRequests(t *testing.T) {
	for name, step := range map[string]*workerv1.Step{"users": workertest.Burst(0, 3, 4), "arrivals": arrivals()} {
		for goneAt, gone := range []string{"first", "other"} {
			t.Run(name+" without the "+gone, func(t *testing.T) {
				targets := []*workertest.Target{workertest.NewTarget(t, nil), workertest.NewTarget(t, nil)}
				x := prepared(t, withOther(targets[0].URL, targets[1].URL, step), testConfig(), ignore)
				targets[goneAt].Close()
				m := run(t, x)
				for i := range m.Requests {
					r := &m.Requests[i]
					failed := r.Outcomes[measure.Refused] + r.Outcomes[measure.Reset]
					if i == goneAt && (failed != r.Sent || failed == 0) || i != goneAt && (r.Expected != r.Sent || r.Sent == 0) {
						t.Errorf("of request %d, %d were sent, %d were expected and %d lost their target: %v", i, r.Sent, r.Expected, failed, r.Outcomes)
					}
				}
			})
		}
	}
}

// Cookies of one target are not sent to another: it is another host, and may be another team's.
func TestCookiesStayWithTheirTarget(t *testing.T) {
	var mu sync.Mutex
	seen := map[string]map[string]int{"shop": {}, "identity": {}}
	serve := func(name string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			seen[name][r.Header.Get("Cookie")]++
			http.SetCookie(w, &http.Cookie{Name: "session", Value: name, Path: "/"})
		}
	}
	shop, identity := workertest.NewTarget(t, serve("shop")), workertest.NewTarget(t, serve("identity"))
	a := withOther(shop.URL, identity.URL, workertest.Burst(0, 2, 8))
	a.Requests[0].Weight, a.Requests[1].Weight = 0, 0
	a.Journeys = []*workerv1.Journey{{Name: "visit", Weight: 1, Steps: []*workerv1.JourneyStep{{Request: 0, Times: 1}, {Request: 1, Times: 1}, {Request: 0, Times: 1}, {Request: 1, Times: 1}}}}
	run(t, prepared(t, a, testConfig(), ignore))
	mu.Lock()
	defer mu.Unlock()
	for name, cookies := range seen {
		if cookies[""] != 4 || cookies["session="+name] != 4 || len(cookies) != 2 {
			t.Errorf("%s got the cookies %v, want none four times, and its own four times", name, cookies)
		}
	}
}

// Nothing is sent to another target at an address that is not allowed for it, whatever is allowed
// for the first.
func TestOtherTargetsKeepToTheirPolicy(t *testing.T) {
	shop, identity := workertest.NewTarget(t, nil), workertest.NewTarget(t, nil)
	a := withOther(shop.URL, identity.URL, workertest.Burst(0, 1, 1))
	a.OtherTargets[0].AllowSpecialAddresses = false
	got := refusal(t, a, testConfig())
	if got.Reason != workerv1.ReasonTargetUnreachable || !strings.Contains(got.Error(), "target "+identity.URL+":") || !strings.Contains(got.Error(), "a loopback address") {
		t.Errorf("%s: %s; want the other target's address refused", got.Reason, got)
	}
	a = withOther("http://shop.test:1", "http://identity.test:2", workertest.Burst(0, 1, 1))
	for _, target := range []*workerv1.Target{a.GetTarget(), a.GetOtherTargets()[0]} {
		target.AllowSpecialAddresses, target.Destinations = false, &workerv1.Destinations{}
	}
	access, err := NewAccess(a)
	must.Succeed(t, err)
	to := netip.MustParseAddrPort("10.0.0.1:2")
	must.Succeed(t, access.Redirect(a, &workerv1.Redirect{
		Target:       &workerv1.Destinations{},
		OtherTargets: []*workerv1.Destinations{{Allowed: []*workerv1.Destination{{Range: "10.0.0.1/32", Port: 2}}}},
	}))
	if err := access.others[0].Check(to); err != nil {
		t.Errorf("what the other target may be connected to is refused: %v", err)
	}
	if access.target.Check(to) == nil {
		t.Error("the first target may be connected to at the address of the other")
	}
}

func TestRequestToATargetThatIsNotThereIsRefused(t *testing.T) {
	for _, target := range []int32{-1, 2} {
		a := withOther("http://a", "http://b", workertest.Burst(0, 1, 1))
		a.Requests[1].Target = target
		if got := refusal(t, a, testConfig()); got.Reason != workerv1.ReasonInvalidSpec || !strings.Contains(got.Error(), `request "token": target: there is no target`) {
			t.Errorf("%s: %s", got.Reason, got)
		}
	}
	a := withOther("http://a", "http://b", arrivals())
	a.Driver = workerv1.Driver_DRIVER_VEGETA
	if got := refusal(t, a, testConfig()); !strings.Contains(got.Error(), "Vegeta sends to one target") {
		t.Errorf("%s: %s", got.Reason, got)
	}
}

// A user has a connection to each target.
func TestUsersHaveConnectionsToAllTargets(t *testing.T) {
	a := withOther("http://a", "https://b", workertest.Burst(0, 11, 1))
	if got, want := memoryNeed(a).each, connectionMemory(a.GetTarget(), 0)+connectionMemory(a.GetOtherTargets()[0], 0); got != want {
		t.Errorf("a user takes %d bytes, want %d", got, want)
	}
	_, err := New(t.Context(), a, Config{Limits: health.Limits{Descriptors: spareDescriptors + 20, Ports: 100}}, ignore)
	if want := "step 0 gives the worker 11 users, but it can hold 10 connections"; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("refusal %v, want %s", err, want)
	}
}
