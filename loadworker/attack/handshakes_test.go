package attack

import (
	"net/http"
	"testing"
	"time"
)

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
		step := usersStep(users, Burst{Requests: each, Limit: patience})
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
			if handshakes != want {
				t.Errorf("%d handshakes, want %d", handshakes, want)
			}
		}
	})
}
