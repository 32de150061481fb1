//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
)

// cluster is the cluster under test.
var cluster struct {
	client.Client
	pods kubernetes.Interface
}

func connect() error {
	config, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("find the cluster: %w; run `make e2e`, which sets KUBECONFIG", err)
	}
	config.QPS, config.Burst = 100, 200
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return err
	}
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		return err
	}
	if cluster.Client, err = client.New(config, client.Options{Scheme: scheme}); err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	cluster.pods, err = kubernetes.NewForConfig(config)
	return err
}

// command runs a program and returns what it printed on standard output.
func command(ctx context.Context, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	var out, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problems
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, problems.String())
	}
	return out.String(), nil
}

func mustCommand(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := command(t.Context(), name, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// namespace makes a namespace of the test's own, under the restricted Pod
// Security Standard, and deletes it when the test is over.
func namespace(t *testing.T) string {
	t.Helper()
	return namespaceNamed(t, "e2e-")
}

// namespaceNamed is such a namespace, whose name begins with that prefix: the operator's
// configuration has rules of its own for some.
func namespaceNamed(t *testing.T, prefix string) string {
	t.Helper()
	ns, err := newNamespace(t.Context(), prefix)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			explain(t, ns.Name)
		}
		if err := cluster.Delete(context.Background(), ns); err != nil {
			t.Errorf("delete namespace: %v", err)
		}
	})
	return ns.Name
}

// newNamespace makes a namespace under the restricted Pod Security Standard. Pods can be
// created in it: their service account, which a controller creates, is there.
func newNamespace(ctx context.Context, prefix string) (*corev1.Namespace, error) {
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		GenerateName: prefix, Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"},
	}}
	if err := cluster.Create(ctx, ns); err != nil {
		return nil, fmt.Errorf("create namespace: %w", err)
	}
	return ns, retry(ctx, waitTimeout, func(ctx context.Context) error {
		return cluster.Get(ctx, client.ObjectKey{Namespace: ns.Name, Name: "default"}, &corev1.ServiceAccount{})
	})
}

// explain prints what a person would look at first.
func explain(t *testing.T, namespace string) {
	for _, args := range [][]string{
		{"get", "loadtests,jobs,pods", "-n", namespace, "-o", "wide"},
		{"get", "events", "-n", namespace, "--sort-by=.lastTimestamp"},
		{"logs", "-n", namespace, "-l", "app.kubernetes.io/part-of=loadtest-targets", "--all-containers", "--prefix", "--tail=15"},
		{"logs", "-n", operatorNamespace, "-l", "app.kubernetes.io/name=loadtest-operator", "--prefix", "--tail=40"},
	} {
		out, err := command(context.Background(), "kubectl", args...)
		t.Logf("kubectl %s (%v)\n%s", strings.Join(args, " "), err, out)
	}
}

// create makes a LoadTest from YAML.
func create(t *testing.T, namespace, name, spec string) *v1alpha1.LoadTest {
	t.Helper()
	lt := &v1alpha1.LoadTest{}
	if err := yaml.UnmarshalStrict([]byte(spec), &lt.Spec); err != nil {
		t.Fatal(err)
	}
	lt.Namespace, lt.Name = namespace, name
	if err := cluster.Create(t.Context(), lt); err != nil {
		t.Fatal(err)
	}
	return lt
}

// until reads the LoadTest until f is true of it, or the time is over. That it cannot be read
// for a moment is no fault of its own.
func until(t *testing.T, lt *v1alpha1.LoadTest, limit time.Duration, what string, f func(*v1alpha1.LoadTest) bool) {
	t.Helper()
	err := retry(t.Context(), limit, func(ctx context.Context) error {
		if err := cluster.Get(ctx, client.ObjectKeyFromObject(lt), lt); err != nil {
			return err
		}
		if !f(lt) {
			return fmt.Errorf("it is in phase %q", lt.Status.Phase)
		}
		return nil
	})
	if err != nil {
		status, _ := yaml.Marshal(lt.Status)
		t.Fatalf("%s is not %s: %v\n%s", lt.Name, what, err, status)
	}
}

// finish waits for a terminal condition and holds the status to what must
// always be true of a finished run.
func finish(t *testing.T, lt *v1alpha1.LoadTest, limit time.Duration) {
	t.Helper()
	until(t, lt, limit, "finished", func(lt *v1alpha1.LoadTest) bool {
		return meta.IsStatusConditionTrue(lt.Status.Conditions, v1alpha1.ConditionFinished)
	})
	s := lt.Status
	if s.Verdict == "" || s.CompletionTime == nil || s.ObservedGeneration != lt.Generation {
		t.Errorf("finished without verdict (%q), completionTime (%v) or observedGeneration (%d of %d)", s.Verdict, s.CompletionTime, s.ObservedGeneration, lt.Generation)
	}
	if completed, failed := condition(lt, v1alpha1.ConditionComplete), condition(lt, v1alpha1.ConditionFailed); (completed.Status == metav1.ConditionTrue) == (failed.Status == metav1.ConditionTrue) {
		t.Errorf("finished with Complete %q and Failed %q, want one of them True", completed.Status, failed.Status)
	}
	for _, step := range s.Steps {
		if r := step.Result; r != nil {
			if sum := total(r.Outcomes); sum != r.Sent || r.Due != r.Sent+r.Unsent {
				t.Errorf("step %s: outcomes add up to %d of %d sent; due %d, unsent %d", step.Name, sum, r.Sent, r.Due, r.Unsent)
			}
		}
	}
}

// sending says whether a run has sent a request.
func sending(lt *v1alpha1.LoadTest) bool {
	return len(lt.Status.Steps) > 0 && lt.Status.Steps[0].Result != nil && lt.Status.Steps[0].Result.Sent > 0
}

func total(o v1alpha1.Outcomes) int64 {
	return o.Success + o.RateLimited + o.ClientError + o.ServerError + o.UnexpectedStatus + o.Timeout +
		o.Refused + o.Reset + o.DNS + o.TLS + o.BadResponse + o.Unfinished + o.Other
}

// condition is a condition of the LoadTest, empty when absent.
func condition(lt *v1alpha1.LoadTest, kind string) metav1.Condition {
	if c := meta.FindStatusCondition(lt.Status.Conditions, kind); c != nil {
		return *c
	}
	return metav1.Condition{}
}

// isFull says whether everything is asked for, and not only what runs on every change.
func isFull() bool { return os.Getenv("FULL") != "" }

// onlyFull skips a test that does not run on every change: lower layers hold the most of it.
func onlyFull(t *testing.T) {
	t.Helper()
	if !isFull() {
		t.Skip("set FULL=1: it does not run on every change")
	}
}

// env is an environment variable or what stands in for it.
func env(name, otherwise string) string {
	if v := os.Getenv(name); v != "" {
		return v
	}
	return otherwise
}
