package assemble

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/loadworker/attack"
	"github.com/loadtest-dev/loadtest-operator/loadworker/health"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/await"
	"github.com/loadtest-dev/loadtest-operator/test/groundtruth"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

func testConfig() Config { return Config{Version: "test", Limits: health.SystemLimits()} }

// file writes a file as the kubelet mounts it.
func file(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	must.Succeed(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// prepared is an assembly that is ready to begin.
func prepared(t *testing.T, a *workerv1.Assignment, c Config, notReady func(error)) *Assembly {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), await.Patience)
	defer cancel()
	x, err := New(ctx, a, c, notReady)
	must.Succeed(t, err)
	t.Cleanup(x.Close)
	must.Succeed(t, x.Prepare(ctx, notReady))
	return x
}

func ignore(error) {}

// refusal is the first for which an assignment cannot begin.
func refusal(t *testing.T, a *workerv1.Assignment, c Config) *Refusal {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), await.Patience)
	defer cancel()
	notReady := func(err error) {
		var refusal *Refusal
		if errors.As(err, &refusal) {
			cancel()
		}
	}
	x, err := New(ctx, a, c, notReady)
	if err == nil {
		err = x.Prepare(ctx, notReady)
	}
	var refusal *Refusal
	if !errors.As(err, &refusal) {
		t.Fatalf("the assignment ends with %v, want a refusal", err)
	}
	return refusal
}

// unreachable wants each refusal to be for a target out of reach, and to say so in these words,
// if there are any. What else is reported is only that it asks.
func unreachable(t *testing.T, says string, then func()) func(error) {
	return func(err error) {
		var refusal *Refusal
		if !errors.As(err, &refusal) {
			return
		}
		if refusal.Reason != workerv1.ReasonTargetUnreachable || says != "" && refusal.Error() != says {
			t.Errorf("not ready for %s: %v, want TargetUnreachable: %s", refusal.Reason, refusal, says)
		}
		then()
	}
}

// invalid is a change for which an assignment is refused as an invalid spec, and what the refusal says.
type invalid struct {
	change func(*workerv1.Assignment)
	want   string
}

func wantInvalid(t *testing.T, of func() *workerv1.Assignment, tests map[string]invalid) {
	t.Helper()
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			a := of()
			tt.change(a)
			if got := refusal(t, a, testConfig()); got.Reason != workerv1.ReasonInvalidSpec || !strings.Contains(got.Error(), tt.want) {
				t.Errorf("refused for %s: %v\nwant %s", got.Reason, got, tt.want)
			}
		})
	}
}

// groundTruth starts a ground-truth server, at which it aims a target.
func groundTruth(t *testing.T, target *workerv1.Target, c groundtruth.Config) *groundtruth.Server {
	t.Helper()
	s, err := groundtruth.Start(c)
	must.Succeed(t, err)
	t.Cleanup(s.Close)
	target.Url = s.URL()
	if certificate := s.Certificate(); certificate != nil {
		target.Tls = &workerv1.TLS{CaFile: file(t, string(certificate)), ServerName: "example.com"}
	}
	if c.Protocol == groundtruth.H2C || c.Protocol == groundtruth.HTTP2 {
		target.Protocol = workerv1.Protocol_PROTOCOL_HTTP2
	}
	return s
}

// counters are those of a server that has no request in flight.
func counters(t *testing.T, s *groundtruth.Server) (truth groundtruth.Counters) {
	t.Helper()
	await.True(t, "the server has counted its answers", func() bool { truth = s.Counters(); return truth.InFlight == 0 })
	return truth
}

// run runs the first step to its end. It cuts arrivals when all of them have ended, however
// long this machine takes for them.
func run(t *testing.T, x *Assembly) *measure.Measurement {
	t.Helper()
	step, err := x.Step(0)
	must.Succeed(t, err)
	r := x.Runner(step).Start(step, time.Now().Add(20*time.Millisecond))
	_, rated := step.Load.(attack.Arrivals)
	if rated {
		await.True(t, "all arrivals have ended", func() bool { return isDone(r) || ended(t, snapshot(t, r)) == step.Share.Count })
		r.Cut()
	}
	<-r.Done()
	return snapshot(t, r)
}

func isDone(r *attack.Execution) bool {
	select {
	case <-r.Done():
		return true
	default:
		return false
	}
}

func snapshot(t *testing.T, r *attack.Execution) *measure.Measurement {
	t.Helper()
	m, err := r.Snapshot()
	must.Succeed(t, err)
	return m
}

// ended are the requests that have an outcome.
func ended(t *testing.T, m *measure.Measurement) int64 {
	t.Helper()
	q, err := m.Total()
	must.Succeed(t, err)
	return q.Sent - q.Outcomes[measure.Unfinished]
}

// errorsOf has one message for each failing outcome of all requests.
func errorsOf(m *measure.Measurement) map[measure.Outcome]string {
	all := map[measure.Outcome]string{}
	for i := range m.Requests {
		maps.Copy(all, m.Requests[i].Errors)
	}
	return all
}
