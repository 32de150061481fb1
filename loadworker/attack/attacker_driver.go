package attack

import (
	"bytes"
	"net/http"
	"net/url"
	"strconv"

	vegeta "github.com/tsenart/vegeta/v12/lib"

	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport/nethttp"
)

// attackerDriver drives arrivals by vegeta from end to end: its Targeter takes the
// scheduler's request, its Attacker makes the net/http request, sends it by net/http's
// client and pool of connections, and reads the response. The scheduler decides what is
// due when, and counts, as with the other drivers: a connection of the feed is a place
// for a request in flight.
type attackerDriver struct {
	vegetaDriver
	pool *nethttp.Pool
}

var (
	_ driver            = attackerDriver{}
	_ http.RoundTripper = attackerDriver{}
)

func newAttackerDriver(s *scheduler, a *arrivals, pool *nethttp.Pool) attackerDriver {
	return attackerDriver{vegetaDriver: newVegetaDriver(s, a), pool: pool}
}

func (d attackerDriver) drive() { d.attack(d.target, d) }

// placeHeader has the number of a request's place, from target to RoundTrip. It is not
// sent.
const placeHeader = "X-Loadtest-Place"

// target makes a target of a request that is ready. It must not fail, which would end
// the attack: RoundTrip refuses one that may not be sent any more, which has no place.
func (d attackerDriver) target(t *vegeta.Target) error {
	c := <-d.ready
	t.Method, t.URL, t.Header = http.MethodGet, d.pool.URL(), http.Header{}
	if !d.sched.begin(&c.connSlot, &c.buffer) {
		d.drop(c)
		return nil
	}
	r := &c.buffer.Request
	t.Method, t.Header = r.Method, d.pool.Header(r)
	t.Header[placeHeader] = []string{strconv.Itoa(c.index)}
	if len(r.Host) > 0 {
		t.Header.Set("Host", string(r.Host))
	}
	// It may still be written when the response has come, and the place has another.
	t.Body = bytes.Clone(r.Body)
	// A URL that net/url does not take is sent all the same: RoundTrip sets the path.
	if u := t.URL + string(r.Path); isURL(u) {
		t.URL = u
	}
	return nil
}

func isURL(s string) bool {
	_, err := url.Parse(s)
	return err == nil
}

// RoundTrip sends a request by net/http.
func (d attackerDriver) RoundTrip(r *http.Request) (*http.Response, error) {
	number, err := strconv.Atoi(r.Header.Get(placeHeader))
	if err != nil {
		return nil, errClosed
	}
	delete(r.Header, placeHeader)
	d.mu.Lock()
	c := d.conns[number]
	d.mu.Unlock()
	x := d.sched.x
	end := func(response transport.Response, err error) { d.finish(c, response, err) }
	return d.pool.Send(x.ctx, x.start.Add(c.hit.sent+x.timeout(&c.hit)), r, &c.buffer.Request, end)
}
