//go:build !race

// Simulations run without the race detector, in which a timer of a bubble that has expired
// before it is waited for crashes Go 1.26 (runtime.(*timer).maybeRunChan).

package local

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/utils/clock"
	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator"
	"github.com/loadtest-dev/loadtest-operator/loadworker/assemble"
	"github.com/loadtest-dev/loadtest-operator/loadworker/health"
	"github.com/loadtest-dev/loadtest-operator/loadworker/session"
	"github.com/loadtest-dev/loadtest-operator/test/memory"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/virtual"
	"github.com/loadtest-dev/loadtest-operator/test/workertest"
)

// simulation is a run in virtual time: the decisions, the coordinator and the workers are those
// of any run, connected in memory to each other and to a target.
type simulation struct {
	t      *testing.T
	target *workertest.Target
	lis    *memory.Listener
	run    *run
}

// simulate runs a test with a run of a spec, and with what handles the requests.
func simulate(t *testing.T, spec string, handle http.HandlerFunc, test func(t *testing.T, s *simulation)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		t.Cleanup(func() { <-time.After(time.Minute) }) // gRPC closes within seconds, in the background
		s := &simulation{t: t, target: workertest.InMemory(t, handle), lis: memory.Listen()}
		lt := &v1beta1.LoadTest{}
		must.Succeed(t, yaml.UnmarshalStrict(fmt.Appendf(nil, spec, s.target.URL), &lt.Spec))
		lt.Namespace, lt.Name, lt.UID, lt.Generation = "local", "test", "a-uid", 1
		seconds := int64(300)
		lt.Spec.StartDeadlineSeconds = &seconds
		e := &environment{folder: t.TempDir(), changed: make(chan struct{}, 1), served: make(chan error, 1), begin: s.begin}
		e.processes = newProcesses(nil, e.notify)
		e.coordinator = coordinator.New(e.processes, clock.RealClock{}, func(coordinator.RunID) { e.notify() }, prometheus.NewRegistry())
		must.Succeed(t, e.serve(t.Context(), s.lis, string(lt.UID)))
		s.run = &run{Config: Config{Show: func(*v1beta1.LoadTest) {}}, test: lt, clock: clock.RealClock{}, environment: e}
		test(t, s)
	})
}

// finished is the LoadTest at the end of its run.
func (s *simulation) finished() *v1beta1.LoadTest {
	s.t.Helper()
	err := s.run.untilFinished(s.t.Context())
	if closed := s.run.close(true, func() error { return nil }); err != nil || closed != nil {
		s.t.Fatal(err, closed)
	}
	return s.run.test
}

// begin starts a worker in this process.
func (s *simulation) begin(i invitation) error {
	file := filepath.Join(s.run.folder, fmt.Sprint("token-", i.Worker))
	if err := os.WriteFile(file, []byte(i.Token), 0o600); err != nil {
		return err
	}
	ctx, end := context.WithCancel(s.t.Context())
	w := &process{token: i.Token, stdin: ender(end), person: coordinator.Identity{
		Run: coordinator.RunID(i.Run), Worker: i.Worker, Namespace: "local", Pod: fmt.Sprint("worker-", i.Worker), PodUID: fmt.Sprint(i.Worker), Created: time.Now(),
	}}
	p := s.run.processes
	p.mu.Lock()
	p.started = append(p.started, w)
	p.mu.Unlock()
	p.ended.Go(func() {
		err := session.Run(ctx, session.Config{
			Coordinator: i.Coordinator, Dial: s.lis.DialAddress, CA: []byte(i.CA), TokenFile: file, Run: i.Run, Worker: i.Worker,
			Assembly: assemble.Config{Version: "test", Limits: health.SystemLimits(), Dial: s.target.Dial, Timer: virtual.NewTimer},
		})
		p.mu.Lock()
		w.over, w.why = true, fmt.Sprint(err)
		p.mu.Unlock()
		p.changed()
	})
	return nil
}

// ender ends a worker, as the end of its standard input does.
type ender func()

// Close ends it.
func (e ender) Close() error {
	e()
	return nil
}

// published is how long the API says that a run goes on at most once it is to end.
const published = 3 * time.Second

// A threshold that is to abort the run ends it within the time that is published, from the
// answer that the rest of the step could not mend to the last request at the target: whenever
// between two snapshots that is.
func TestBreachEndsTheRunInTime(t *testing.T) {
	for from := 17 * time.Second; from < 21*time.Second; from += 537 * time.Millisecond {
		t.Run(from.String(), func(t *testing.T) { breach(t, from) })
	}
}

// breach has a target answer nothing as expected from some time on.
func breach(t *testing.T, from time.Duration) {
	const planned, tolerated = 30 * 10 * 60, 900 // 5%
	var begun, breached, last time.Time
	var failed int
	var mu sync.Mutex
	target := func(w http.ResponseWriter, _ *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		last = time.Now()
		if begun.IsZero() {
			begun = last
		}
		if last.Sub(begun) < from {
			return
		}
		w.WriteHeader(http.StatusInternalServerError)
		if failed++; failed == tolerated+1 {
			breached = last
		}
	}
	const spec = `{target: {url: %q}, requests: [{name: home, http: {path: /}}], parallelism: 3, steps: [{name: long, users: 30, ratePerUser: 10, duration: 60s}],
		thresholds: [{metric: failureRate, max: 5%%, onBreach: Abort}]}`
	simulate(t, spec, target, func(t *testing.T, s *simulation) {
		lt := s.finished()
		if lt.Status.Verdict != v1beta1.VerdictFailed || lt.Status.Steps[0].State != v1beta1.StepCut {
			t.Errorf("verdict %s, step %s", lt.Status.Verdict, lt.Status.Steps[0].State)
		}
		if took := last.Sub(breached); breached.IsZero() || took <= 0 || took > published {
			t.Errorf("requests came until %v after the breach, %d of %d", took, s.target.Served(), planned)
		}
	})
}

// Users without a rate, and streams whose events go on, end a step once it was breached for ten seconds after the grace of
// five: what is remembered of the seconds goes from one decision to the next.
func TestBreachThatLastsEndsTheRun(t *testing.T) {
	fails := func(w http.ResponseWriter, _ *http.Request) {
		<-time.After(10 * time.Millisecond)
		w.WriteHeader(http.StatusInternalServerError)
	}
	streams := func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			<-time.After(300 * time.Millisecond)
			fmt.Fprint(w, "data: 1\n\n")
			if http.NewResponseController(w).Flush() != nil {
				return
			}
		}
	}
	const users = `{target: {url: %%q, timeout: 5m}, requests: [{name: home, http: {path: /%s}}], steps: [{name: long, users: 20, duration: 60s}], thresholds: [{%s, onBreach: Abort}]}`
	for name, tc := range map[string]struct {
		handle          http.HandlerFunc
		http, threshold string
	}{
		"requests": {fails, "", "metric: failureRate, max: 5%%"},
		"events":   {streams, ", stream: {events: SSE}", "metric: p95, time: BetweenEvents, max: 100ms"},
	} {
		t.Run(name, func(t *testing.T) {
			simulate(t, fmt.Sprintf(users, tc.http, tc.threshold), tc.handle, func(t *testing.T, s *simulation) {
				lt := s.finished()
				step := &lt.Status.Steps[0]
				if lt.Status.Verdict != v1beta1.VerdictFailed || step.State != v1beta1.StepCut {
					t.Fatalf("verdict %s, step %s: %+v", lt.Status.Verdict, step.State, lt.Status.Conditions)
				}
				if took := lt.Status.Thresholds[0].AbortTime.Sub(step.StartTime.Time); took < 14*time.Second || took > 17*time.Second {
					t.Errorf("aborted after %v, want 14 s to 17 s", took)
				}
			})
		})
	}
}

// A run that is to end sends nothing from then on.
func TestTerminatedRunSendsNoMore(t *testing.T) {
	var last atomic.Pointer[time.Time]
	target := func(http.ResponseWriter, *http.Request) { last.Store(new(time.Now())) }
	const spec = `{target: {url: %q}, requests: [{name: home, http: {path: /}}], parallelism: 3, steps: [{name: long, users: 30, ratePerUser: 10, duration: 10m}]}`
	simulate(t, spec, target, func(t *testing.T, s *simulation) {
		end := make(chan struct{})
		s.run.Terminate = end
		var told time.Time
		time.AfterFunc(33333*time.Millisecond, func() { told = time.Now(); close(end) })
		lt := s.finished()
		if sent := lt.Status.Steps[0].Result.Sent; lt.Status.Verdict != v1beta1.VerdictCanceled || sent != s.target.Served() || sent < 300*25 {
			t.Errorf("verdict %s, %d sent, %d served", lt.Status.Verdict, sent, s.target.Served())
		}
		if took := last.Load().Sub(told); took > 0 {
			t.Errorf("requests came until %v after the end was asked for", took)
		}
	})
}

// What is planned of users who think, and of ramps of users, is what the target gets, and
// the steps are complete.
func TestUsersWhoThinkAndRampsOfUsers(t *testing.T) {
	const spec = `{target: {url: %q}, requests: [{name: home, http: {path: /}}], parallelism: 3, steps: [
		{name: errand, users: 7, requestsPerUser: 3, think: {min: 100ms, max: 200ms}},
		{name: up, users: 2, rampTo: 10, ratePerUser: 5, duration: 2s},
		{name: down, users: 10, rampTo: 2, ratePerUser: 5, duration: 2s, warmUp: 2s},
		{name: crowd, users: 1, rampTo: 5, think: {min: 50ms, max: 50ms}, duration: 1s}]}`
	simulate(t, spec, func(http.ResponseWriter, *http.Request) { <-time.After(time.Millisecond) }, func(t *testing.T, s *simulation) {
		got := s.finished()
		if got.Status.Verdict != v1beta1.VerdictPassed {
			t.Errorf("verdict %s: %+v", got.Status.Verdict, got.Status.Conditions)
		}
		sent := int64(0)
		for i := range got.Status.Steps {
			step := &got.Status.Steps[i]
			if step.State != v1beta1.StepComplete || step.Result == nil {
				t.Fatalf("step %s is %s: %s", step.Name, step.State, step.Message)
			}
			sent += step.Result.Sent
			if planned := step.Load.Requests; planned > 0 && (step.Result.Due != planned || step.Result.Sent != planned) {
				t.Errorf("step %s: %d due and %d sent of %d planned", step.Name, step.Result.Due, step.Result.Sent, planned)
			}
		}
		// The warm-up of 2 s has 10 users, who send 5 times a second each.
		if warm := s.target.Served() - sent; got.Status.Steps[0].Result.Sent != 21 || warm < 90 || warm > 110 {
			t.Errorf("%d sent in the burst, %d in the warm-up", got.Status.Steps[0].Result.Sent, warm)
		}
		if n := got.Status.Steps[1].Load.Requests; n < 50 || n > 70 {
			t.Errorf("%d requests of a ramp, want about 60", n)
		}
		if users := got.Status.MaxSustainedUsers; users != nil && *users != 7 {
			t.Errorf("%d users were sustained, want the 7 of the burst, and none of a ramp", *users)
		}
	})
}
