//go:build e2e

package targets

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/audit"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

const (
	// presetsAtOnce is for two cores: more would measure each other.
	presetsAtOnce = 2
	// presetsLimit bounds the whole suite.
	presetsLimit = 20 * time.Minute
)

// often are the presets that are tested on every change: each service, store, broker and proxy is
// in one of them. Go starts the first of parallel tests, and then from the last one back: those two that take
// the longest are there.
var often = []string{"seed-001-clicks", "seed-003-1gb", "seed-000-v4", "seed-004-lua"}

// TestTargets installs the presets of the chart of targets, loads each, and compares
// its stored data with the acknowledged requests in the status. It prints a line
// for each preset, and the last line in any case.
func TestTargets(t *testing.T) {
	presets, err := audit.Presets(os.DirFS(cluster.TargetsChart))
	must.Succeed(t, err)
	slices.SortStableFunc(presets, func(a, b audit.Preset) int { return slices.Index(often, a.Name) - slices.Index(often, b.Name) })
	ctx, cancel := context.WithTimeout(t.Context(), presetsLimit)
	s := &suite{slots: make(chan struct{}, presetsAtOnce)}
	t.Cleanup(func() {
		cancel()
		s.awaitEmpty(t)
		fmt.Println(audit.Summary(s.tried, s.failed))
	})
	for _, p := range presets {
		if !cluster.IsFull() && !slices.Contains(often, p.Name) {
			continue
		}
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			s.slots <- struct{}{}
			defer func() { <-s.slots }()
			s.run(ctx, t, p)
		})
	}
}

// suite is what the presets share.
type suite struct {
	slots      chan struct{}
	mu         sync.Mutex
	namespaces []string
	tried      int
	failed     int
}

// run tries one preset, and tells how it went however it ends.
func (s *suite) run(ctx context.Context, t *testing.T, p audit.Preset) {
	x := &trial{Line: audit.Line{Preset: p}, phase: "the start"}
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.tried++
		if t.Failed() {
			s.failed++
			x.Err = errors.Join(x.Err, fmt.Errorf("%s went wrong: see above", x.phase))
		}
		fmt.Println(x.Line)
	}()
	if err := ctx.Err(); err != nil {
		t.Fatalf("no time is left: all presets together may take %s", presetsLimit)
	}
	x.ns = cluster.Namespace(t)
	s.mu.Lock()
	s.namespaces = append(s.namespaces, x.ns)
	s.mu.Unlock()
	x.install(ctx, t)
	defer x.uninstall(t)
	before := x.limiterState(t)
	x.load(t)
	x.audit(t, before)
	if t.Failed() {
		return
	}
	if cluster.Enforced() {
		x.checkPolicies(t)
	}
	x.test(ctx, t)
}

// awaitEmpty waits until nothing is left of any preset: neither pods nor volumes.
func (s *suite) awaitEmpty(t *testing.T) {
	err := cluster.Try(context.Background(), cluster.Patience, func(ctx context.Context) error {
		for _, ns := range s.namespaces {
			if err := cluster.API.Get(ctx, client.ObjectKey{Name: ns}, &corev1.Namespace{}); !apierrors.IsNotFound(err) {
				return fmt.Errorf("namespace %s is left (%w)", ns, err)
			}
		}
		var volumes corev1.PersistentVolumeList
		if err := cluster.API.List(ctx, &volumes); err != nil {
			return err
		}
		for _, v := range volumes.Items {
			if v.Spec.ClaimRef != nil && slices.Contains(s.namespaces, v.Spec.ClaimRef.Namespace) {
				return fmt.Errorf("volume %s is left", v.Name)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// trial is one preset in a namespace of its own.
type trial struct {
	audit.Line
	ns string
	// phase names the current part of the trial in error messages.
	phase string
	lt    *v1beta1.LoadTest
}

func (x *trial) install(ctx context.Context, t *testing.T) {
	t.Helper()
	x.phase = "the installation"
	service := string(x.Preset.Service)
	args := []string{"install", "target", cluster.TargetsChart, "--namespace", x.ns,
		"--wait", "--wait-for-jobs", "--timeout", cluster.Patience.String()}
	if cluster.Env("CLUSTER", "local") == "local" {
		args = append(args, "--values", cluster.TargetsChart+"/values-local.yaml")
	}
	args = append(args, "--set", fmt.Sprintf("networkPolicy.enabled=%t", cluster.Enforced()), "--values", cluster.TargetsChart+"/"+x.Preset.File,
		"--set", service+".image.repository="+cluster.Image(service), "--set", service+".image.tag="+cluster.ImageTag())
	began := time.Now()
	if _, err := cluster.Command(ctx, "helm", args...); err != nil {
		t.Fatal(err)
	}
	x.Ready = time.Since(began)
}

func (x *trial) uninstall(t *testing.T) {
	if t.Failed() {
		return // It goes with its namespace, after that has been explained.
	}
	if _, err := cluster.Command(context.Background(), "helm", "uninstall", "target", "--namespace", x.ns); err != nil {
		t.Errorf("uninstall %s: %v", x.Preset.Name, err)
	}
}

// test runs what the chart itself checks. It comes last, since it stores
// something too.
func (x *trial) test(ctx context.Context, t *testing.T) {
	t.Helper()
	x.phase = "helm test"
	if out, err := cluster.Command(ctx, "helm", "test", "target", "--namespace", x.ns, "--timeout", cluster.Patience.String(), "--logs"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	x.Tested = true
}

// load runs the preset's load test and, if the preset has victims, kills a pod
// of each in the middle of it.
func (x *trial) load(t *testing.T) {
	t.Helper()
	x.phase = "the load test"
	spec, err := x.Preset.Spec()
	must.Succeed(t, err)
	x.lt = cluster.Create(t, x.ns, x.Preset.Name, spec)
	if victims := x.Preset.Victims(); len(victims) > 0 {
		cluster.Until(t, x.lt, "in its steady step", steadily)
		for _, component := range victims {
			pod := x.pods(t, component)[0].Name
			cluster.MustCommand(t, "kubectl", "-n", x.ns, "delete", "pod", pod, "--grace-period=0", "--force")
			x.Killed = append(x.Killed, component)
		}
	}
	cluster.Finish(t, x.lt)
	x.Sent, x.Failed = audit.Sent(x.lt.Status)
	x.Verdict = string(x.lt.Status.Verdict)
	if why := v1beta1.NotCarriedOut(x.lt.Status.Conditions); why != nil {
		t.Fatalf("%s: %s", why.Reason, why.Message)
	}
}

// steadily says that the step named steady has been sending for a while.
func steadily(lt *v1beta1.LoadTest) bool {
	for _, step := range lt.Status.Steps {
		if step.Name == "steady" && step.Result != nil {
			return step.Result.Sent > 300
		}
	}
	return false
}
