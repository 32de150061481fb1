package coordinator

import (
	"strings"
	"sync"
	"testing"

	"github.com/go-logr/logr/funcr"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"google.golang.org/grpc/codes"

	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/measure/wire"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// What one worker sends must not end the sessions of the others.
func TestPanicEndsOneSession(t *testing.T) {
	for name, spoil := range map[string]func(*runState){
		"under the mutex": func(r *runState) { r.workers[0].snapshots = nil },
		"in the receiver": func(r *runState) { r.urgent = nil },
	} {
		t.Run(name, func(t *testing.T) {
			r := newFixture(t)
			var log lines
			r.Log = funcr.New(func(_, args string) { log.add(args) }, funcr.Options{})
			r.Direct("a", running("a", 1, 0))
			r.Direct("b", running("b", 1, 0))
			w, other := r.connect("a", 0, "pod"), r.connect("b", 0, "pod")
			r.locked(func() { spoil(r.runs["a"]) })
			w.snapshot(snapshot(t, 0, 1, true, 10))
			wantEnd(t, w.end(), codes.Internal, "its log says where")
			other.snapshot(snapshot(t, 0, 1, true, 10))
			other.sync()
			wantSent(t, r.Observe("b"), 10)
			if got := log.String(); !strings.Contains(got, "a session failed") || !strings.Contains(got, "run_state.go") {
				t.Errorf("the log says %q, want where it failed", got)
			}
			if testutil.ToFloat64(r.metrics.rejected.WithLabelValues(string(rejectPanic))) == 0 {
				t.Error("it is not counted")
			}
		})
	}
}

type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) add(s string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text.WriteString(s)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// Readings that do not fit together are the run's error.
func TestMergeThatFailsIsReported(t *testing.T) {
	c, sessions := directed(t, running("a", 1, 0))
	must.Succeed(t, c.snapshot(sessions[0], snapshot(t, 0, 1, true, 10)))
	another := running("a", 1, 0)
	another.Assignments[0].Requests = nil
	c.Direct("a", another)
	if o := c.Observe("a"); o.Step == nil || o.Step.Merged != nil || o.Step.Err == nil {
		t.Errorf("%+v, want an error in place of a result", o.Step)
	}
	if o := c.merge(&readings{report: &exchange.Report{Reporting: 1}, of: []*wire.Reading{nil}}); o.Merged != nil || o.Err == nil {
		t.Errorf("%+v, want an error in place of a panic", o)
	}
}
