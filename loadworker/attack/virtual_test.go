package attack

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/loadtest-dev/loadtest-operator/test/same"
	"github.com/loadtest-dev/loadtest-operator/test/scripted"
	"github.com/loadtest-dev/loadtest-operator/test/virtual"
)

// inVirtualTime runs a test over each driver, in a bubble whose clock advances only when all
// that could be done at an instant was done. What is measured there is exact: the machine takes
// no time.
func inVirtualTime(t *testing.T, test func(t *testing.T, d testDriver)) {
	t.Helper()
	forEachDriver(t, func(t *testing.T, d testDriver) { d.virtually(t, test) })
}

// arrivalsInVirtualTime runs a test of arrivals so.
func arrivalsInVirtualTime(t *testing.T, test func(t *testing.T, d testDriver)) {
	t.Helper()
	forEachArrivalsDriver(t, func(t *testing.T, d testDriver) { d.virtually(t, test) })
}

// virtually runs a test over the driver in a bubble.
func (d testDriver) virtually(t *testing.T, test func(t *testing.T, d testDriver)) {
	t.Helper()
	d.network = virtual.NewNetwork(t) // for longer than the goroutines of the bubble
	d.clientTLS, d.serverTLS = scripted.Identity(t)
	synctest.Test(t, func(t *testing.T) {
		t.Cleanup(func() { <-time.After(time.Minute) }) // what goes on at the end has time to end
		test(t, d)
	})
}

// latency is how long a server of virtual time takes for a request, unless the test says it: a
// closed user of one that takes no time would send without end.
const latency = 5 * time.Millisecond

// oracle returns a server for the driver's runners.
func (d testDriver) oracle(t *testing.T, handle http.HandlerFunc) *oracle {
	t.Helper()
	if d.network == nil {
		return newOracle(t, handle)
	}
	if handle == nil {
		handle = func(http.ResponseWriter, *http.Request) { <-time.After(latency) }
	}
	o := &oracle{}
	o.Server = &httptest.Server{Listener: d.network.Listen(), Config: o.server(handle)}
	if d.secured {
		o.Config.Protocols.SetHTTP2(true)
		o.TLS = d.serverTLS
		o.StartTLS()
	} else {
		o.Start()
	}
	t.Cleanup(func() {
		d.network.Deliver()
		o.Close()
	})
	return o
}

// isOnTime checks that the server got the n requests of a schedule with the paths /${seq}, each
// once and in the very instant in which it was due.
func (o *oracle) isOnTime(t *testing.T, n int64, due func(seq int64) time.Time) {
	t.Helper()
	want := map[string]time.Time{}
	for seq := range n {
		want[fmt.Sprintf("/%d", seq)] = due(seq)
	}
	got := map[string]time.Time{}
	for _, a := range o.arrivals() {
		if _, twice := got[a.path]; twice {
			t.Errorf("%s came twice", a.path)
		}
		got[a.path] = a.at
	}
	same.As(t, "arrived", want, got)
}
