//go:build e2e

package faults

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/pressure"
)

const (
	// killEvery is how often the leading operator is killed.
	killEvery = 10 * time.Second
	// maxKills bounds the kills of a run: each leader leads for a second or two, so that
	// a run takes minutes, and a quarter of an hour on a slow machine. With FULL=1 there
	// is no bound.
	maxKills = 6
)

// threeSteps is a run that outlives several leaders.
const threeSteps = `
target:
  service: {name: ratelimiter, port: 80}
requests:
  - name: api
    http:
      path: /api
      headers: [{name: X-Forwarded-For, value: "10.7.0.${user}"}]
    expect: {status: [200, 429]}
ladder: {users: [60, 90, 120], ratePerUser: "1", duration: LENGTH}
parallelism: 3
# The machine is shared with the whole cluster, and with operators that start: the target
# may be slow, as TestFaults allows it to be.
thresholds: [{metric: unsentRate, max: 5%}, ALLOWED]
worker: {resources: {requests: {cpu: "1"}}}
`

// unharmed is asked of a target that the fault does not concern.
const unharmed = "{metric: failureRate, max: 1%}"

// TestTakeover: a run of three steps goes on, and is counted exactly, whatever becomes
// of the operator that leads and of the API server.
func TestTakeover(t *testing.T) {
	if cluster.Env("CLUSTER", "local") != "local" {
		t.Skip("needs the local cluster, whose nodes are processes of this host")
	}
	for _, tc := range []struct {
		name    string
		full    bool          // it is for the full suite only
		step    time.Duration // how long each step takes
		allowed string        // what is asked of the target
		disturb func(t *testing.T, ended func() bool)
	}{
		{"killed every ten seconds", true, 20 * time.Second, unharmed, func(t *testing.T, ended func() bool) {
			kills := 0
			for every := time.NewTicker(killEvery); !ended() && (kills < maxKills || cluster.IsFull()); <-every.C {
				if pod := cluster.Leading(t.Context()); pod != nil {
					kill(t, pod)
					kills++
				}
			}
			t.Logf("takeover: fault=killed-every-10s kills=%d", kills)
			if kills < 3 {
				t.Errorf("%d leaders killed in a run of a minute, want 3 or more", kills)
			}
		}},
		{"rolled out", true, 20 * time.Second, unharmed, func(t *testing.T, _ func() bool) { rollOutWithoutWait(t) }},
		// Its nodes may count as not ready for a moment then, which takes the limiter out of its
		// Service: requests fail on their way to it, and for a second or two all of them.
		{"rolled out, then the API server stopped for 15 s", false, 15 * time.Second, "{metric: failureRate, max: 5%}, {metric: downtime, max: 10%}", func(t *testing.T, ended func() bool) {
			rollOutWithoutWait(t)
			if ended() {
				t.Error("the run ended before the API server was stopped")
			}
			pauseAPIServer(t, 15*time.Second)
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if tc.full {
				cluster.OnlyFull(t)
			}
			surviveTakeover(t, tc.step, tc.allowed, tc.disturb)
		})
	}
}

// surviveTakeover runs the three steps and disturbs them in the first.
func surviveTakeover(t *testing.T, length time.Duration, allowed string, disturb func(t *testing.T, ended func() bool)) {
	ns := cluster.Limiter(t)
	before, machine := cluster.Ask(t, ns), pressure.Start()
	lt := cluster.Create(t, ns, "takeover", strings.NewReplacer("LENGTH", length.String(), "ALLOWED", allowed).Replace(threeSteps))
	cluster.Until(t, lt, "sending", cluster.Sending)
	disturb(t, func() bool {
		now := &v1beta1.LoadTest{}
		return cluster.API.Get(t.Context(), client.ObjectKeyFromObject(lt), now) == nil && now.Status.Verdict != ""
	})
	cluster.Finish(t, lt)
	var due, sent, expected int64
	for _, step := range lt.Status.Steps {
		if step.Result != nil {
			due += step.Result.Due
			sent += step.Result.Sent
			expected += step.Result.Expected
		}
	}
	served := cluster.Ask(t, ns).Total() - before.Total()
	t.Logf("takeover: verdict=%s due=%d sent=%d expected=%d served=%d", lt.Status.Verdict, due, sent, expected, served)
	// Only the limiter answers as expected. After the API server was away its nodes may
	// count as not ready for a moment: requests then fail on their way to it.
	if want := int64((60 + 90 + 120) * length.Seconds()); due != want || served < expected || served > sent {
		t.Errorf("%d due, %d sent, %d answered as expected and %d served, want %d due, and served what was sent, less failures", due, sent, expected, served, want)
	}
	// A machine that is busy with other things displaces load, which no takeover causes.
	cluster.IsPassed(t, lt, machine)
	if t.Failed() {
		status, _ := yaml.Marshal(lt.Status)
		t.Logf("%s", status)
	}
}

// kill kills the operator's process, and deletes its pod so that the kubelet does not
// start it again, with the lease that it held.
func kill(t *testing.T, pod *corev1.Pod) {
	t.Helper()
	must.Succeed(t, signal(pod, syscall.SIGKILL))
	must.Succeed(t, cluster.API.Delete(t.Context(), pod, client.GracePeriodSeconds(0)))
}

// rollOutWithoutWait replaces both operators, of which none may leave the next one to wait for
// the end of its lease.
func rollOutWithoutWait(t *testing.T) {
	t.Helper()
	holders := watchHolders(t)
	gap := rollOut(t)
	t.Logf("takeover: fault=rollout without-leader-seconds=%.1f", gap.Seconds())
	seen := holders()
	if left := leftBy(seen); len(left) > 0 || len(seen) < 2 {
		t.Errorf("of the holders %q, %q did not give up the lease, so that the next operator had to wait for its end", seen, left)
	}
}

// rollOut replaces both operators, and returns for how long at most none led.
func rollOut(t *testing.T) (gap time.Duration) {
	t.Helper()
	cluster.MustCommand(t, "kubectl", "-n", cluster.OperatorNamespace, "rollout", "restart", "deploy/loadtest-operator")
	led := time.Now()
	cluster.Soon(t, func(ctx context.Context) error {
		leads := cluster.Leading(ctx) != nil
		if leads {
			led = time.Now()
		}
		gap = max(gap, time.Since(led))
		var d appsv1.Deployment
		if err := cluster.API.Get(ctx, client.ObjectKey{Namespace: cluster.OperatorNamespace, Name: "loadtest-operator"}, &d); err != nil {
			return err
		}
		s := d.Status
		if s.ObservedGeneration != d.Generation || s.UpdatedReplicas != *d.Spec.Replicas || s.Replicas != s.UpdatedReplicas || s.ReadyReplicas != s.Replicas || !leads {
			return fmt.Errorf("an operator leads is %t, and %d of %d replicas are new", leads, s.UpdatedReplicas, s.Replicas)
		}
		return nil
	})
	return gap
}

// watchHolders returns a function that returns who has held the lease of the leader since
// watchHolders was called, in order; "" is that it was given up.
func watchHolders(t *testing.T) func() []string {
	t.Helper()
	leases, err := cluster.Clientset.CoordinationV1().Leases(cluster.OperatorNamespace).Watch(t.Context(), metav1.ListOptions{
		FieldSelector: "metadata.name=loadtest-operator.loadtest.dev",
	})
	must.Succeed(t, err)
	seen := make(chan []string, 1)
	go func() {
		var holders []string
		for event := range leases.ResultChan() {
			if lease, ok := event.Object.(*coordinationv1.Lease); ok {
				holders = append(holders, ptr.Deref(lease.Spec.HolderIdentity, ""))
			}
		}
		seen <- slices.Compact(holders)
	}()
	return func() []string { leases.Stop(); return <-seen }
}

// leftBy are the holders that another one followed before they had given the lease up.
func leftBy(holders []string) (left []string) {
	for i, next := range holders {
		if i > 0 && next != "" && holders[i-1] != "" {
			left = append(left, holders[i-1])
		}
	}
	return left
}

// pauseAPIServer stops the API server's process for a while: connections are taken, and
// nothing is answered.
func pauseAPIServer(t *testing.T, d time.Duration) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/comm")
	must.Succeed(t, err)
	for _, file := range files {
		if name, err := os.ReadFile(file); err != nil || strings.TrimSpace(string(name)) != "kube-apiserver" {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		must.Succeed(t, err)
		must.Succeed(t, syscall.Kill(pid, syscall.SIGSTOP))
		defer func() { _ = syscall.Kill(pid, syscall.SIGCONT) }()
		<-time.After(d)
		return
	}
	t.Fatal("there is no kube-apiserver")
}
