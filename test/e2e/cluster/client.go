package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// OperatorNamespace is where the operator is installed.
const OperatorNamespace = "loadtest-system"

// Image is an image of ours, without its tag.
func Image(name string) string { return Env("IMAGE_REGISTRY", "loadtest.dev") + "/" + name }

// ImageTag is the tag of all images.
func ImageTag() string { return Env("IMAGE_TAG", "dev") }

// Enforced says that the cluster is known to enforce NetworkPolicies, and to let
// the API server through to the pods that the audit asks.
func Enforced() bool { return Env("CLUSTER", "local") == "local" }

// Main runs the tests of a package against the operator that `make e2e` has installed.
func Main(m *testing.M) {
	err := errors.Join(awaitTurn(), Connect())
	if err == nil {
		err = API.Get(context.Background(), client.ObjectKey{Namespace: OperatorNamespace, Name: OperatorName}, &appsv1.Deployment{})
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "%v\nmake e2e brings a cluster up, and installs the operator there\n", err)
		os.Exit(1)
	}
	os.Exit(Suites.run(m.Run))
}

// awaitTurn waits until no other package uses the cluster, for as long as this process runs: go test builds a
// package while another one is tested.
func awaitTurn() error {
	suites, err := syscall.Open("..", syscall.O_RDONLY|syscall.O_CLOEXEC, 0) // it stays open
	if err != nil {
		return err
	}
	return syscall.Flock(suites, syscall.LOCK_EX)
}

// Connect makes the clients of the cluster that the environment names.
func Connect() error {
	config, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("find the cluster: %w", err)
	}
	config.QPS, config.Burst = 100, 200
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return err
	}
	if err := v1beta1.AddToScheme(scheme); err != nil {
		return err
	}
	if API, err = client.New(config, client.Options{Scheme: scheme}); err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	Clientset, err = kubernetes.NewForConfig(config)
	return err
}

// Command runs a program and returns what it printed on standard output.
func Command(ctx context.Context, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	var out, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problems
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, problems.String())
	}
	return out.String(), nil
}

// MustCommand runs a program, and ends the test if it fails.
func MustCommand(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := Command(t.Context(), name, args...)
	must.Succeed(t, err)
	return out
}

// IsFull says whether everything is asked for, and not only what runs on every change.
func IsFull() bool { return os.Getenv("FULL") != "" }

// OnlyFull skips a test that does not run on every change: lower layers hold the most of it.
func OnlyFull(t *testing.T) {
	t.Helper()
	if !IsFull() {
		t.Skip("set FULL=1: it does not run on every change")
	}
}

// Env is an environment variable or what stands in for it.
func Env(name, otherwise string) string {
	if v := os.Getenv(name); v != "" {
		return v
	}
	return otherwise
}

// api and clientset are clients of the cluster under test.
var (
	API       client.Client
	Clientset kubernetes.Interface
)
