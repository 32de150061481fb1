package defects_test

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/utils/clock"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/certs"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/loadworker/assemble"
	"github.com/loadtest-dev/loadtest-operator/loadworker/health"
	"github.com/loadtest-dev/loadtest-operator/loadworker/session"
	"github.com/loadtest-dev/loadtest-operator/test/groundtruth"
	"github.com/loadtest-dev/loadtest-operator/test/harness"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// operated is a run from its LoadTest to its verdict, as a cluster carries it out,
// but for the API server and the pods: the decisions, the coordinator and its
// sessions, and the workers are the real ones.
type operated struct {
	t           *testing.T
	lt          *v1beta1.LoadTest
	coordinator *coordinator.Coordinator
	address     string
	ca          []byte
	notified    chan struct{}

	drain   bool // once the first worker has sent load
	mu      sync.Mutex
	workers []exchange.Worker // only their pods are set
	stop    []context.CancelFunc
	group   sync.WaitGroup
}

// operate carries the experiment out and returns its LoadTest at the end.
func (e experiment) operate(t *testing.T) (*v1beta1.LoadTest, *groundtruth.Server) {
	t.Helper()
	server, err := groundtruth.Start(e.server)
	must.Succeed(t, err)
	t.Cleanup(server.Close)
	o := &operated{t: t, lt: e.loadTest(server.URL()), notified: make(chan struct{}, 1), drain: e.drain}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer func() {
		cancel()
		o.group.Wait()
	}()
	o.serve(ctx)
	o.live(ctx)
	return o.lt, server
}

// serve starts the coordinator.
func (o *operated) serve(ctx context.Context) {
	notify := func(coordinator.RunID) { o.wake() }
	o.coordinator = coordinator.New(tokens{}, clock.RealClock{}, notify, prometheus.NewRegistry())
	made, err := certs.Generate(time.Now())
	must.Succeed(o.t, err)
	pair, err := tls.X509KeyPair(made.Cert, made.Key)
	must.Succeed(o.t, err)
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	must.Succeed(o.t, err)
	o.ca, o.address = made.CA, lis.Addr().String()
	o.group.Go(func() {
		if err := o.coordinator.Serve(ctx, lis, &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS13}); err != nil {
			o.t.Errorf("Serve: %v", err)
		}
	})
}

// tokens are "worker N", of the one run that there is.
type tokens struct{}

func (tokens) Authenticate(_ context.Context, token string) (coordinator.Identity, error) {
	id := coordinator.Identity{Run: "defects"}
	if _, err := fmt.Sscanf(token, "worker %d", &id.Worker); err != nil {
		return id, fmt.Errorf("%w: %w", coordinator.ErrUnauthenticated, err)
	}
	return id, nil
}

func (tokens) Check(context.Context, coordinator.Identity) error { return nil }

func (o *operated) wake() {
	select {
	case o.notified <- struct{}{}:
	default:
	}
}

// live decides again and again until the run is over and its workers are gone.
func (o *operated) live(ctx context.Context) {
	rules := policy.Everything()
	for !lifecycle.Finished(o.lt) || !o.gone() {
		d := lifecycle.Decide(o.lt.DeepCopy(), rules, o.observe(), time.Now())
		if d.Job == lifecycle.JobCreate {
			o.employ(ctx)
		}
		o.direct(d.Directive)
		o.drainWorker()
		if o.write(d.Status) {
			continue
		}
		pause := d.RequeueAfter
		if pause == 0 {
			pause = patience
		}
		select {
		case <-o.notified:
		case <-time.After(pause):
		case <-ctx.Done():
			o.t.Fatalf("the run does not end: %v", o.lt.Status.Conditions)
		}
	}
}

// write stores a status as the API server does, and reports whether it changed.
func (o *operated) write(s v1beta1.LoadTestStatus) (changed bool) {
	before, err := json.Marshal(o.lt.Status)
	must.Succeed(o.t, err)
	after, err := json.Marshal(s)
	must.Succeed(o.t, err)
	o.lt.Status = v1beta1.LoadTestStatus{}
	must.Succeed(o.t, json.Unmarshal(after, &o.lt.Status))
	return string(before) != string(after)
}

// direct passes the directive on to the coordinator.
func (o *operated) direct(d exchange.Directive) {
	if len(o.lt.Status.Steps) == 0 {
		return
	}
	var err error
	d.Assignments, err = harness.Plan(o.lt)
	must.Succeed(o.t, err)
	o.coordinator.Direct("defects", d)
}

// drainWorker deletes the pod of the first worker once it has sent load: it must
// end, and has the time to send what it measured.
func (o *operated) drainWorker() {
	if !o.drain || o.lt.Status.Steps == nil || o.lt.Status.Steps[0].Result == nil || o.lt.Status.Steps[0].Result.Sent == 0 {
		return
	}
	o.drain = false
	o.mu.Lock()
	o.workers[0].PodEnding, o.workers[0].PodMessage = true, "its pod was deleted"
	o.mu.Unlock()
	o.stop[0]()
}

// employ starts the workers, as the pods of a Job.
func (o *operated) employ(ctx context.Context) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.workers = make([]exchange.Worker, o.lt.Status.Workers.Desired)
	for i := range o.workers {
		o.workers[i].Pod = exchange.PodRunning
		token := filepath.Join(o.t.TempDir(), "token")
		must.Succeed(o.t, os.WriteFile(token, fmt.Appendf(nil, "worker %d", i), 0o600))
		ctx, stop := context.WithCancel(ctx)
		o.stop = append(o.stop, stop)
		o.group.Go(func() {
			defer stop()
			err := session.Run(ctx, session.Config{
				Coordinator: o.address, CA: o.ca, TokenFile: token, Run: "defects", Worker: int32(i),
				Assembly: assemble.Config{Version: "defects", Limits: health.SystemLimits()},
			})
			if err != nil && !errors.Is(err, session.ErrUnfinished) {
				o.t.Errorf("worker %d: %v", i, err)
			}
			o.mu.Lock()
			o.workers[i].Pod = exchange.PodEnded
			o.mu.Unlock()
			o.wake()
		})
	}
}

func (o *operated) gone() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, w := range o.workers {
		if w.Pod != exchange.PodEnded {
			return false
		}
	}
	return true
}

func (o *operated) observe() lifecycle.Observed {
	// Pods come before sessions, as the operator reads them: all that a worker has said which has ended is then known.
	o.mu.Lock()
	pods := slices.Clone(o.workers)
	o.mu.Unlock()
	c := o.coordinator.Observe("defects")
	seen := lifecycle.Observed{Workers: make([]exchange.Worker, len(pods))}
	copy(seen.Workers, c.Workers)
	for i, pod := range pods {
		seen.Workers[i].Pod, seen.Workers[i].PodEnding, seen.Workers[i].PodMessage = pod.Pod, pod.PodEnding, pod.PodMessage
	}
	if len(seen.Workers) > 0 {
		seen.Job = lifecycle.JobPresent
	}
	if c.Step != nil {
		report, merged := *c.Step, *c.Step.Merged // which are shared
		merged.Requests = slices.Clone(merged.Requests)
		// As in collect: what holds the tests themselves back is not judged.
		merged.Health.CPUThrottled, merged.Health.CPUThrottledMax = 0, 0
		merged.Health.RunQueueWait, merged.Health.RunQueueWaitMax = 0, 0
		merged.Health.Stalled, merged.Health.StalledMax = 0, 0
		asPlanned(&merged)
		report.Merged = &merged
		seen.Step = &report
	}
	return seen
}

// conditionText is a condition of the run, as status, reason and message.
func conditionText(lt *v1beta1.LoadTest, kind string) string {
	for _, c := range lt.Status.Conditions {
		if c.Type == kind {
			return strings.Join([]string{string(c.Status), c.Reason, c.Message}, " ")
		}
	}
	return ""
}
