package defects_test

import (
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/groundtruth"
	"github.com/loadtest-dev/loadtest-operator/test/harness"
)

// Defect: a new connection for each request, which measures handshakes. Users
// keep theirs; where the server closes it, the result counts it.
func TestConnectionsAreReused(t *testing.T) {
	tests := map[string]struct {
		reply groundtruth.Reply
		steps []v1beta1.Step
		want  func(sent int64) int64
	}{
		"kept by users": {
			reply: groundtruth.OK(64), steps: burst(10, 20),
			want: func(int64) int64 { return 10 },
		},
		"kept by paced users": {
			reply: groundtruth.OK(64), steps: paced(10, "4", 3*time.Second), // in which each sends
			want: func(int64) int64 { return 10 },
		},
		// Each user opens one before its first request, and one for each after it.
		"closed by the server": {
			reply: groundtruth.UntilClose(9), steps: burst(10, 20),
			want: func(sent int64) int64 { return sent },
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			o := experiment{
				server: routes(map[string]groundtruth.Route{"": {Reply: tt.reply}}),
				spec:   v1beta1.LoadTestSpec{Steps: tt.steps},
			}.run(t)
			c := o.settled(t)
			if want := tt.want(o.total.Sent); c.Connections != want {
				t.Errorf("the server accepted %d connections for %d requests, want %d", c.Connections, c.Requests, want)
			}
			g := o.result.Generator
			if g.ConnectionsOpened != c.Connections || g.ConnectionsReused != c.Requests-c.Connections {
				t.Errorf("the result says that %d connections were opened and %d requests reused one; the server accepted %d, for %d requests",
					g.ConnectionsOpened, g.ConnectionsReused, c.Connections, c.Requests)
			}
		})
	}
}

// Defect: a ramp that is measured. The connections are open before the window,
// nothing is sent before it, and none is opened in it.
func TestConnectionsAreOpenBeforeTheWindow(t *testing.T) {
	const users = 50
	for name, steps := range map[string][]v1beta1.Step{
		"a burst":     burst(users, 1),
		"paced users": paced(users, "4", 500*ms),
	} {
		t.Run(name, func(t *testing.T) {
			open := int64(0)
			o := experiment{
				spec: v1beta1.LoadTestSpec{Steps: steps},
				// The server accepts connections as soon as it can, and notices later
				// that the one was closed by which the worker found it reachable.
				prepared: func(s *groundtruth.Server) {
					for deadline := time.Now().Add(patience); open != users && time.Now().Before(deadline); {
						open = s.Counters().Open
					}
				},
			}.run(t)
			c := o.settled(t)
			if open != users || c.Connections != users {
				t.Errorf("%d connections were open before the start, and %d were opened in all; want %d", open, c.Connections, users)
			}
			if c.First < o.start {
				t.Errorf("the first request came %v before the start", time.Duration(o.start-c.First))
			}
		})
	}
}

// Defect: a warm-up that is measured. It is sent, as the server counts, and is in
// no figure of the result.
func TestTheWarmUpIsNotMeasured(t *testing.T) {
	const warmUp, length = 2 * time.Second, 400 * ms
	for name, steps := range map[string][]v1beta1.Step{
		"arrivals":    arrivals("200", length),
		"paced users": paced(20, "10", length),
	} {
		t.Run(name, func(t *testing.T) {
			steps[0].WarmUp = harness.Lasting(warmUp)
			o := experiment{
				server: groundtruth.Config{Record: 1000},
				spec:   v1beta1.LoadTestSpec{Steps: steps},
			}.run(t)
			all, after := int64(0), int64(0)
			for _, r := range o.server.Records() {
				all++
				if r.Received >= o.start+int64(warmUp) {
					after++
				}
			}
			if all <= o.result.Sent {
				t.Errorf("the server got %d requests, of which %d count: nothing was sent to warm up", all, o.result.Sent)
			}
			// The last of the warm-up may come when the window is open already.
			if o.result.Due != 80 || o.result.Sent > after || o.result.Sent+o.result.Unsent != 80 {
				t.Errorf("due %d, sent %d, unsent %d; 80 requests are due in the window, and the server got %d since it began",
					o.result.Due, o.result.Sent, o.result.Unsent, after)
			}
			if o.merged.Window != length || o.result.ResponseTime.Samples > after {
				t.Errorf("%d response times in a window of %v; want at most %d in %v", o.result.ResponseTime.Samples, o.merged.Window, after, length)
			}
		})
	}
}
