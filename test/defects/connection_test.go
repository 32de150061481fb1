package defects_test

import (
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/test/groundtruth"
)

// Defect: a new connection for each request, which measures handshakes. Users
// keep theirs; where the server closes it, the result says so.
func TestConnectionsAreReused(t *testing.T) {
	tests := map[string]struct {
		reply groundtruth.Reply
		steps []v1alpha1.Step
		want  func(sent int64) int64
	}{
		"kept by users": {
			reply: groundtruth.OK(64), steps: burst(10, 20),
			want: func(int64) int64 { return 10 },
		},
		"kept by paced users": {
			reply: groundtruth.OK(64), steps: paced(10, "20", 500*ms),
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
				spec:   v1alpha1.LoadTestSpec{Steps: tt.steps},
			}.run(t)
			c := o.settled(t)
			if want := tt.want(o.total.Sent); c.Connections != want {
				t.Errorf("the server accepted %d connections for %d requests, want %d", c.Connections, c.Requests, want)
			}
			if got := o.result.Generator.ConnectionsOpened; got != c.Connections {
				t.Errorf("the result says that %d connections were opened, the server accepted %d", got, c.Connections)
			}
		})
	}
}

// Defect: a ramp that is measured. The connections are open before the window,
// nothing is sent before it, and none is opened in it.
func TestConnectionsAreOpenBeforeTheWindow(t *testing.T) {
	const users = 50
	for name, steps := range map[string][]v1alpha1.Step{
		"a burst":     burst(users, 1),
		"paced users": paced(users, "4", 500*ms),
	} {
		t.Run(name, func(t *testing.T) {
			open := int64(0)
			o := experiment{
				spec: v1alpha1.LoadTestSpec{Steps: steps},
				// The server accepts what is connected as soon as it can.
				prepared: func(s *groundtruth.Server) {
					for deadline := time.Now().Add(patience); open < users && time.Now().Before(deadline); {
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
