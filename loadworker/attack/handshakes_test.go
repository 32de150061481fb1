package attack

import (
	"net/http"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/test/await"
)

// With resumption, a user's connection resumes the session of the one before, also that of the
// step before. Those of other users are other clients'.
func TestUsersResumeTheirOwnSessions(t *testing.T) {
	forEachDriverOverTLS(t, func(t *testing.T, d testDriver) {
		const users, each = 4, 3
		o := newOracle(t, func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Connection", "close") })
		r := d.runner(t, setup{url: o.URL, resume: true})
		for turn, full := range []int64{users, 0} { // of HTTP/2, a step may end before a GOAWAY comes
			got := drive(t, r, usersStep(users, Burst{Requests: each, Limit: await.Patience}))
			if n := got.Handshakes.Count(); got.ResumedHandshakes != n-full || got.ResumedHandshakes == 0 {
				t.Errorf("step %d: %d of %d handshakes resumed, want all but %d", turn+1, got.ResumedHandshakes, n, full)
			}
		}
	})
}

// A connection that is opened within the window is part of the requests' times; one that
// was opened before is not. Each over TLS has one handshake.
func TestHandshakesAndReconnectsAreCounted(t *testing.T) {
	forEachDriver(t, func(t *testing.T, d testDriver) {
		const users, each = 4, 3
		o := newOracle(t, func(w http.ResponseWriter, _ *http.Request) {
			<-time.After(50 * time.Millisecond) // the window has begun for sure
			w.Header().Set("Connection", "close")
		})
		r := d.runner(t, setup{url: o.URL})
		step := usersStep(users, Burst{Requests: each, Limit: await.Patience})
		r.Prepare(t.Context(), step)
		o.accepts(t, users)
		const opened = users * each
		for turn := range 2 {
			if turn == 1 {
				r.Prepare(t.Context(), step)
			}
			got := drive(t, r, step)
			if got.ConnectionsOpened != opened || got.OpenedInWindow != users*(each-1) {
				t.Errorf("%d opened, %d of them in the window; want %d, %d", got.ConnectionsOpened, got.OpenedInWindow, opened, users*(each-1))
			}
			handshakes := int64(0)
			if got.Handshakes != nil {
				handshakes = got.Handshakes.Count()
			}
			want := int64(0)
			if d.secured {
				want = opened
			}
			if handshakes != want || got.ResumedHandshakes != 0 {
				t.Errorf("%d handshakes, %d of them resumed, want %d full ones", handshakes, got.ResumedHandshakes, want)
			}
		}
	})
}
