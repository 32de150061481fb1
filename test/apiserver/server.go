package apiserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
)

// patience is how long each program may take to start or stop, and the CRD to be
// served. They take seconds; the defaults of 10 and 20 s are too little where
// other packages are compiled meanwhile.
const patience = 2 * time.Minute

// current is the server of the package under test. It is the one piece of
// shared state that testing.M leaves no other place for; it is set before the
// first test and not changed until the last has ended.
var current struct {
	environment *envtest.Environment
	config      *rest.Config
	client      client.WithWatch
	assets      string
}

// Tests are those of a package: a *testing.M, or what says something after it.
type Tests interface{ Run() int }

// Start is the body of a TestMain: it starts a server, runs the package's tests
// and stops the server. When the server cannot start, no test runs and the
// package fails. Beside the CRD of this repository the server has those that are
// given.
func Start(m Tests, others ...CRD) {
	if err := start(others); err != nil {
		fmt.Fprintln(os.Stderr, "test/apiserver:", err)
		os.Exit(1)
	}
	code := m.Run()
	if err := current.environment.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, "test/apiserver: stop the server:", err)
		code = max(code, 1)
	}
	os.Exit(code)
}

func start(others []CRD) error {
	dir, err := assets(os.Getenv)
	if err != nil {
		return err
	}
	root, err := Root()
	if err != nil {
		return fmt.Errorf("find the CRD: %w", err)
	}
	crds := []string{filepath.Join(root, "config", "crd", "bases")}
	for _, other := range others {
		path, err := other.path(root)
		if err != nil {
			return err
		}
		crds = append(crds, path)
	}
	return persist(func() error {
		environment := &envtest.Environment{
			UseExistingCluster:    new(false), // whatever USE_EXISTING_CLUSTER says
			BinaryAssetsDirectory: dir,
			ErrorIfCRDPathMissing: true,
			CRDInstallOptions: envtest.CRDInstallOptions{
				Paths:   crds,
				MaxTime: patience,
			},
			ControlPlaneStartTimeout: patience,
			ControlPlaneStopTimeout:  patience,
		}
		config, err := environment.Start()
		if err != nil {
			// What was started before the error would outlive the test.
			return errors.Join(fmt.Errorf("start the server: %w", err), environment.Stop())
		}
		c, err := newClient(config)
		if err != nil {
			return errors.Join(err, environment.Stop())
		}
		current.environment, current.config, current.client, current.assets = environment, config, c, dir
		return nil
	})
}

// attempts is how often a start is tried. The programs are given ports that were
// free a moment, on a busy machine some seconds, before they open them; another
// test may have taken one by then. The next attempt has others.
const attempts = 3

// persist tries until it succeeds, and says why each attempt failed.
func persist(try func() error) error {
	var failures []error
	for range attempts {
		err := try()
		if err == nil {
			return nil
		}
		failures = append(failures, err)
	}
	return errors.Join(failures...)
}

// Config returns how to reach the server, as its administrator.
func Config(t testing.TB) *rest.Config {
	t.Helper()
	if current.config == nil {
		t.Fatal("there is no server: the package needs func TestMain(m *testing.M) { apiserver.Start(m) }")
	}
	return rest.CopyConfig(current.config)
}

// Scheme returns a scheme with Kubernetes' own types and this repository's.
func Scheme(t testing.TB) *runtime.Scheme {
	t.Helper()
	scheme, err := newScheme()
	if err != nil {
		t.Fatal(err)
	}
	return scheme
}

func newScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	return scheme, errors.Join(clientgoscheme.AddToScheme(scheme), v1beta1.AddToScheme(scheme))
}

// Client returns a client that reads and writes without a cache. All tests of a package
// share it: to make one is to ask the server for all of its kinds.
func Client(t testing.TB) client.WithWatch {
	t.Helper()
	Config(t) // fails the test when there is no server
	return current.client
}

func newClient(config *rest.Config) (client.WithWatch, error) {
	scheme, err := newScheme()
	if err != nil {
		return nil, err
	}
	c, err := client.NewWithWatch(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("make a client: %w", err)
	}
	return c, nil
}

// Namespace creates a namespace for this test alone and returns its name. Its LoadTests are
// deleted at the end of the test: the operator lists all LoadTests that have not ended, and would
// otherwise list the LoadTests of all tests before.
func Namespace(t testing.TB) string {
	t.Helper()
	c := Client(t)
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}
	if err := c.Create(t.Context(), namespace); err != nil {
		t.Fatalf("create a namespace: %v", err)
	}
	t.Cleanup(func() {
		err := c.DeleteAllOf(context.WithoutCancel(t.Context()), &v1beta1.LoadTest{}, client.InNamespace(namespace.Name))
		if err != nil {
			t.Errorf("delete the LoadTests of namespace %s: %v", namespace.Name, err)
		}
	})
	return namespace.Name
}
