//go:build e2e

package faults

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/fault"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/pressure"
)

const (
	// runsAtOnce are so many that two cores start and send them with delay, and leastPassed
	// is how many must be Passed nevertheless.
	runsAtOnce  = 30
	leastPassed = 27
	// startsWithin is within which time all of them begin to send. Each sends for as long, so
	// that there is a moment at which all do.
	startsWithin = 15 * time.Second
)

// easy sends for a time, after those steps. Its target keeps its limit by far: it takes about a
// millisecond.
func easy(length time.Duration, before ...fault.Step) fault.Load {
	steps := append(before, fault.Step{Users: 10, Every: time.Second, Length: length})
	return fault.Load{Workers: 1, Steps: steps,
		Change: func(spec *v1beta1.LoadTestSpec) {
			limit := intstr.FromString("500ms")
			spec.Thresholds = []v1beta1.Threshold{{Metric: "p95", Max: &limit}}
		}}
}

// TestThirtyRunsAtOnce: runs that send in the same 15 s, from two cores, are decided by what
// their target does, and not by how late they are. Nothing is excused.
func TestThirtyRunsAtOnce(t *testing.T) {
	cluster.OnlyFull(t)
	target := cluster.CounterOf(t, cluster.NamespaceNamed(t, "at-once-")) // operator/values.yaml has a limit of its own for them
	machine := pressure.Start()
	pause := fault.Step{Length: 30 * time.Second} // runs are held after it
	all := make([]*subject, runsAtOnce)
	errs := make([]error, runsAtOnce)
	together := func(do func(i int)) {
		var group sync.WaitGroup
		for i := range all {
			group.Go(func() { do(i) })
		}
		group.Wait()
	}
	together(func(i int) {
		all[i] = newSubject(target, "at once", fmt.Sprint(i), easy(startsWithin, pause), fault.Expectation{})
		errs[i] = all[i].hold(t.Context())
	})
	together(func(i int) {
		if errs[i] == nil {
			errs[i] = all[i].release(t.Context())
		}
	})
	passed := 0
	for i, s := range all {
		if errs[i] != nil {
			t.Errorf("run %d: %v", i, errs[i])
			continue
		}
		cluster.Finish(t, &s.lt)
		if s.lt.Status.Verdict == v1beta1.VerdictPassed {
			passed++
		} else {
			t.Logf("run %d: %s", i, cluster.Condition(&s.lt, v1beta1.ConditionFinished).Message)
		}
	}
	checkAtOnce(t, all)
	counts := target.MustRead(t)
	for _, s := range all {
		if sent, received := cluster.SentBy(&s.lt), counts[s.lt.Name].Received; sent != received || sent == 0 {
			t.Errorf("%s sent %d, and the target received %d", s.lt.Name, sent, received)
		}
	}
	fmt.Printf("at once: %d runs, %d passed (%s)\n", runsAtOnce, passed, machine.Read())
	if passed < leastPassed {
		t.Errorf("%d of %d runs are Passed, want %d at least", passed, runsAtOnce, leastPassed)
	}
}

// checkAtOnce checks that there was a moment at which all runs sent.
func checkAtOnce(t *testing.T, all []*subject) {
	t.Helper()
	var starts []time.Time
	for _, s := range all {
		if steps := s.lt.Status.Steps; len(steps) == 2 && steps[1].StartTime != nil {
			starts = append(starts, steps[1].StartTime.Time)
		}
	}
	slices.SortFunc(starts, time.Time.Compare)
	if n := len(starts); n < len(all) || starts[n-1].Sub(starts[0]) > startsWithin {
		t.Errorf("%d of %d runs began to send, at %v; want all within %s", n, len(all), starts, startsWithin)
	}
}

// TestRunBesideBusyLoops: a run whose target keeps its limit by far is Passed, whatever two
// programs on the same two cores do. Nothing is excused: of half a minute, the host would have to
// take 0.6 s at once.
func TestRunBesideBusyLoops(t *testing.T) {
	if cluster.Env("CLUSTER", "local") != "local" {
		t.Skip("needs the local cluster, whose nodes are processes of this host")
	}
	target := cluster.CounterOf(t, cluster.Namespace(t))
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	for range 2 {
		loop := exec.CommandContext(ctx, "sh", "-c", "while :; do :; done")
		loop.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} // it ends with the test's process
		must.Succeed(t, loop.Start())
		defer func() {
			stop()
			_ = loop.Wait() // it was killed
		}()
	}
	machine := pressure.Start()
	s := newSubject(target, "beside", "busy loops", easy(30*time.Second), fault.Expectation{})
	must.Succeed(t, s.create(t.Context()))
	cluster.Finish(t, &s.lt)
	fmt.Printf("beside busy loops: %s (%s)\n", s.lt.Status.Verdict, machine.Read())
	if s.lt.Status.Verdict != v1beta1.VerdictPassed {
		t.Errorf("verdict %s, want Passed: %s", s.lt.Status.Verdict, cluster.Condition(&s.lt, v1beta1.ConditionFinished).Message)
	}
	o := fault.Read(&s.lt.Status)
	if o.Received, o.Planned = target.MustRead(t)[s.lt.Name].Received, s.load.Planned(); !o.Exact() {
		t.Errorf("received %d of %d sent, due %d of %d planned; want them to be the same", o.Received, o.Sent, o.Due, o.Planned)
	}
}
