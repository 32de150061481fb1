//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/fault"
	"github.com/loadtest-dev/loadtest-operator/test/pressure"
)

const (
	// runsAtOnce are so many that two cores start and send them with delay, and leastPassed
	// is how many must be Passed nevertheless.
	runsAtOnce  = 30
	leastPassed = 27
)

// easy has a target that keeps its limit by far: it takes about a millisecond. The first step
// sends nothing: runs are held after it.
func easy(length time.Duration) fault.Load {
	return fault.Load{Workers: 1, Steps: []fault.Step{{Length: 8 * time.Second}, {Users: 10, Every: time.Second, Length: length}},
		Change: func(spec *v1alpha1.LoadTestSpec) {
			limit := intstr.FromString("500ms")
			spec.Thresholds = []v1alpha1.Threshold{{Metric: "p95", Max: &limit}}
		}}
}

// TestThirtyRunsAtOnce: runs that send in the same 15 s, from two cores, are decided by what
// their target does, and not by how late they are. Nothing is excused.
func TestThirtyRunsAtOnce(t *testing.T) {
	if os.Getenv("FULL") == "" {
		t.Skip("takes more than a minute; set FULL=1")
	}
	target := counterOf(t, namespaceNamed(t, "at-once-")) // operator.yaml has a limit of its own for them
	machine := pressure.Start()
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
		all[i] = newSubject(target, "at once", fmt.Sprint(i), easy(15*time.Second), fault.Expectation{})
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
		finish(t, &s.lt, waitTimeout)
		if s.lt.Status.Verdict == v1alpha1.VerdictPassed {
			passed++
		} else {
			t.Logf("run %d: %s", i, condition(&s.lt, v1alpha1.ConditionFinished).Message)
		}
	}
	counts := target.mustRead(t)
	for _, s := range all {
		if sent, received := sentBy(&s.lt), counts[s.lt.Name].Received; sent != received || sent == 0 {
			t.Errorf("%s sent %d, and the target received %d", s.lt.Name, sent, received)
		}
	}
	fmt.Printf("at once: %d runs, %d passed (%s)\n", runsAtOnce, passed, machine.Read())
	if passed < leastPassed {
		t.Errorf("%d of %d runs are Passed, want %d at least", passed, runsAtOnce, leastPassed)
	}
}

// TestRunBesideBusyLoops: a run whose target keeps its limit by far is Passed, whatever two
// programs on the same two cores do. Nothing is excused.
func TestRunBesideBusyLoops(t *testing.T) {
	if env("CLUSTER", "local") != "local" {
		t.Skip("needs the local cluster, whose nodes are processes of this host")
	}
	target := counterOf(t, namespace(t))
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	for range 2 {
		loop := exec.CommandContext(ctx, "sh", "-c", "while :; do :; done")
		if err := loop.Start(); err != nil {
			t.Fatal(err)
		}
		defer func() {
			stop()
			_ = loop.Wait() // it was killed
		}()
	}
	machine := pressure.Start()
	s := newSubject(target, "beside", "busy loops", easy(15*time.Second), fault.Expectation{})
	if err := s.create(t.Context()); err != nil {
		t.Fatal(err)
	}
	finish(t, &s.lt, waitTimeout)
	fmt.Printf("beside busy loops: %s (%s)\n", s.lt.Status.Verdict, machine.Read())
	if s.lt.Status.Verdict != v1alpha1.VerdictPassed {
		t.Errorf("verdict %s, want Passed: %s", s.lt.Status.Verdict, condition(&s.lt, v1alpha1.ConditionFinished).Message)
	}
	if received := target.mustRead(t)[s.lt.Name].Received; received != s.load.Planned() {
		t.Errorf("the target received %d, want %d", received, s.load.Planned())
	}
}
