package cluster

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/hack/cluster/controlplane"
	"github.com/loadtest-dev/loadtest-operator/hack/cluster/golden"
	"github.com/loadtest-dev/loadtest-operator/hack/cluster/layout"
	"github.com/loadtest-dev/loadtest-operator/hack/cluster/process"
	"github.com/loadtest-dev/loadtest-operator/hack/components/must"
	"github.com/loadtest-dev/loadtest-operator/hack/components/same"
)

var now = time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)

// running is the leaders of a cluster, without those that are named.
func running(l layout.Layout, without ...string) map[string]process.Process {
	leaders := map[string]process.Process{}
	pid := 100
	for _, row := range components(l, nil, nil, nil) {
		leaders[row.Name] = process.Process{PID: pid, Name: row.Name, Leader: true}
		pid++
	}
	for _, name := range without {
		delete(leaders, name)
	}
	return leaders
}

func TestCompleteNeedsTheWholeControlPlaneAndNoNode(t *testing.T) {
	l := layout.New("/state")
	if !complete(running(l)) {
		t.Error("a cluster with everything is not complete")
	}
	if !complete(running(l, "node-2/kubelet", "node-2/containerd")) {
		t.Error("a cluster with a node that was stopped is not complete")
	}
	for _, name := range controlplane.Components {
		if complete(running(l, name)) {
			t.Errorf("a cluster without %s is complete", name)
		}
	}
}

func TestNodeRunsWithBothProcesses(t *testing.T) {
	l := layout.New("/state")
	for name, test := range map[string]struct {
		without []string
		want    bool
	}{
		"both":                      {nil, true},
		"no kubelet":                {[]string{"node-2/kubelet"}, false},
		"no containerd":             {[]string{"node-2/containerd"}, false},
		"none":                      {[]string{"node-2/kubelet", "node-2/containerd"}, false},
		"those of another are gone": {[]string{"node-1/kubelet", "node-3/containerd"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			same.As(t, "runs", test.want, runs(running(l, test.without...), l.Node(2)))
		})
	}
}

func TestStatusShowsEveryProcess(t *testing.T) {
	l := layout.New("/state")
	leaders := running(l, "node-3/containerd", "node-3/kubelet", controlplane.DNS)
	memory := map[string]int64{"kube-apiserver": 200 << 20, "node-1/containerd": 20<<20 + 1<<19, "etcd": 40 << 20}
	ready := map[string]time.Time{"node-1": now, "node-2": {}, "node-3": now}
	var table bytes.Buffer
	must.Succeed(t, Print(&table, components(l, leaders, memory, ready)))
	golden.Check(t, "status.txt", table.Bytes())
}

func TestStatusOfNoClusterIsDown(t *testing.T) {
	c := Cluster{Layout: layout.New(t.TempDir())}
	rows, err := c.Status(t.Context())
	if !errors.Is(err, ErrDown) {
		t.Errorf("error is %v, want ErrDown", err)
	}
	for _, row := range rows {
		if row.State != "down" || row.PID != 0 {
			t.Errorf("%+v, want it to be down", row)
		}
	}
	if err := c.Running(t.Context()); !errors.Is(err, ErrDown) {
		t.Errorf("Running = %v, want ErrDown", err)
	}
	if _, err := c.Kubeconfig(); !errors.Is(err, ErrDown) {
		t.Errorf("Kubeconfig = %v, want ErrDown", err)
	}
}

func TestARunFolderIsALeftover(t *testing.T) {
	root := t.TempDir()
	l := layout.Layout{State: filepath.Join(root, "state"), Run: filepath.Join(root, "run")}
	c := Cluster{Layout: l}
	if left, err := c.leftovers(); err != nil || left {
		t.Errorf("leftovers of nothing: %t, %v", left, err)
	}
	must.Succeed(t, os.Mkdir(l.Run, 0o755))
	if left, err := c.leftovers(); err != nil || !left {
		t.Errorf("leftovers with a run folder: %t, %v, want some", left, err)
	}
}

func TestClusterOfAnotherStateFolderIsRefused(t *testing.T) {
	root := t.TempDir()
	of := func(state string) Cluster {
		return Cluster{
			Layout: layout.Layout{State: filepath.Join(root, state), Run: filepath.Join(root, "run")},
			Logf:   func(string, ...any) { t.Error("something was done") },
		}
	}
	mine, yours := of("mine"), of("yours")
	must.Report(t, "a host without a cluster is refused", mine.own())
	must.Succeed(t, mine.claim())
	must.Report(t, "the owner is refused", mine.own())
	for name, do := range map[string]func() error{
		"up":   func() error { return yours.Up(t.Context(), root, now) },
		"down": yours.Down,
	} {
		if err := do(); err == nil || !strings.Contains(err.Error(), "--state-dir "+mine.Layout.State) {
			t.Errorf("%s of another: %v, want it to name the owner's folder", name, err)
		}
	}
}

func TestParallelRunsAllAndReturnsAllErrors(t *testing.T) {
	var mu sync.Mutex
	done := map[int]bool{}
	err := each(func(n int) error {
		mu.Lock()
		defer mu.Unlock()
		done[n] = true
		if n == 2 {
			return nil
		}
		return fmt.Errorf("node %d", n)
	})
	same.As(t, "done", map[int]bool{1: true, 2: true, 3: true}, done)
	for _, want := range []string{"node 1", "node 3"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want it to have %q", err, want)
		}
	}
	must.Report(t, "without a failure", parallel(func() error { return nil }))
}
