package main

import (
	"context"
	"crypto/tls"
	"flag"
	"fmt"
	"net"
	"os"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator"
	"github.com/loadtest-dev/loadtest-operator/controllers/desired"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest"
	"github.com/loadtest-dev/loadtest-operator/controllers/plan"
)

// options are the operator's flags.
type options struct {
	coordinatorBind, coordinatorAdvertise, coordinatorSecret string
	workerImage, allowedHosts, watchNamespaces               string
	metricsBind, probeBind, namespace                        string
	leaderElect                                              bool
}

func (o *options) bind(fs *flag.FlagSet) {
	fs.StringVar(&o.coordinatorBind, "coordinator-bind-address", ":9443", "`address` on which workers are served")
	fs.StringVar(&o.coordinatorAdvertise, "coordinator-advertise", "", "`host:port` that workers dial: the coordinator's Service, or an address of this machine when the operator runs outside the cluster (required)")
	fs.StringVar(&o.coordinatorSecret, "coordinator-secret", "loadtest-operator-coordinator", "`name` of the Secret, in the operator's namespace, that keeps the coordinator's certificate")
	fs.StringVar(&o.workerImage, "worker-image", "", "`image` of workers, where a LoadTest names none (required)")
	fs.StringVar(&o.allowedHosts, "allowed-target-hosts", "", "comma-separated `patterns` of hosts that LoadTests may target beside the Services of this cluster: staging.example.com, *.example.com, 10.0.0.0/8, or * for all")
	fs.StringVar(&o.watchNamespaces, "watch-namespaces", "", "comma-separated `namespaces` whose LoadTests are run; empty: all")
	fs.StringVar(&o.metricsBind, "metrics-bind-address", ":8080", "`address` of /metrics; 0: none")
	fs.StringVar(&o.probeBind, "health-probe-bind-address", ":8081", "`address` of /healthz and /readyz")
	fs.StringVar(&o.namespace, "namespace", os.Getenv("POD_NAMESPACE"), "the operator's own `namespace`; default: $POD_NAMESPACE")
	fs.BoolVar(&o.leaderElect, "leader-elect", false, "run only one of several replicas at a time")
}

func (o *options) validate() error {
	for _, f := range []struct{ name, value, fix string }{
		{"coordinator-advertise", o.coordinatorAdvertise, "the host:port that workers dial"},
		{"worker-image", o.workerImage, "the image of workers"},
		{"namespace", o.namespace, "the operator's own namespace, or set POD_NAMESPACE"},
	} {
		if f.value == "" {
			return fmt.Errorf("--%s is required: give %s", f.name, f.fix)
		}
	}
	if err := (plan.Policy{AllowedHosts: list(o.allowedHosts)}).Check(); err != nil {
		return fmt.Errorf("--allowed-target-hosts: %w", err)
	}
	// Without a host, a worker would dial itself.
	if host, port, err := net.SplitHostPort(o.coordinatorAdvertise); err != nil || host == "" || port == "" {
		return fmt.Errorf("--coordinator-advertise %q: must be host:port, such as loadtest-operator-coordinator.loadtest-system.svc:9443", o.coordinatorAdvertise)
	}
	return nil
}

func main() {
	var o options
	o.bind(flag.CommandLine)
	zapOptions := zap.Options{}
	zapOptions.BindFlags(flag.CommandLine)
	flag.Parse()
	ctrl.SetLogger(zap.New(zap.UseFlagOptions(&zapOptions)))
	if err := run(ctrl.SetupSignalHandler(), o); err != nil {
		ctrl.Log.Error(err, "operator ends")
		os.Exit(1)
	}
}

// run wires the operator and serves until ctx ends.
func run(ctx context.Context, o options) error {
	if err := o.validate(); err != nil {
		return err
	}
	mgr, err := newManager(o)
	if err != nil {
		return err
	}
	certificate, pair, err := certificate(ctx, mgr, o)
	if err != nil {
		return err
	}

	runs := loadtest.NewRuns()
	workers := coordinator.New(loadtest.NewAuthenticator(mgr.GetClient(), clock.RealClock{}), clock.RealClock{}, runs.Notify, metrics.Registry)
	workers.Log = ctrl.Log.WithName("coordinator")
	reconciler := &loadtest.Reconciler{
		Client:   mgr.GetClient(),
		Recorder: mgr.GetEventRecorder("loadtest-operator"),
		Clock:    clock.RealClock{},
		Workers:  workers,
		Runs:     runs,
		Policy:   plan.Policy{AllowedHosts: list(o.allowedHosts)},
		Children: desired.Config{WorkerImage: o.workerImage, Coordinator: o.coordinatorAdvertise, CA: string(certificate.CA)},
		Metrics:  loadtest.NewMetrics(metrics.Registry),
	}
	if err := reconciler.SetupWithManager(mgr); err != nil {
		return fmt.Errorf("set up reconciler: %w", err)
	}
	// Runs only on the leader: a Runnable needs leader election by default.
	if err := mgr.Add(manager.RunnableFunc(func(ctx context.Context) error {
		return serve(ctx, workers, o.coordinatorBind, pair)
	})); err != nil {
		return fmt.Errorf("add coordinator: %w", err)
	}
	return mgr.Start(ctx)
}

func newManager(o options) (manager.Manager, error) {
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return nil, err
	}
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	config, err := ctrl.GetConfig()
	if err != nil {
		return nil, fmt.Errorf("find the cluster: %w", err)
	}
	caches, err := loadtest.CacheOptions()
	if err != nil {
		return nil, err
	}
	if names := list(o.watchNamespaces); len(names) > 0 {
		caches.DefaultNamespaces = map[string]cache.Config{}
		for _, name := range names {
			caches.DefaultNamespaces[name] = cache.Config{}
		}
	}
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:                        scheme,
		Cache:                         caches,
		Metrics:                       metricsserver.Options{BindAddress: o.metricsBind},
		HealthProbeBindAddress:        o.probeBind,
		LeaderElection:                o.leaderElect,
		LeaderElectionID:              "loadtest-operator.loadtest.dev",
		LeaderElectionNamespace:       o.namespace,
		LeaderElectionReleaseOnCancel: true,
	})
	if err != nil {
		return nil, fmt.Errorf("create manager: %w", err)
	}
	if err := mgr.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return nil, err
	}
	return mgr, mgr.AddReadyzCheck("ping", healthz.Ping)
}

// certificate is the coordinator's, read past the cache, which does not run yet
// and must not hold Secrets.
func certificate(ctx context.Context, mgr manager.Manager, o options) (loadtest.Certificate, tls.Certificate, error) {
	c, err := client.New(mgr.GetConfig(), client.Options{Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper()})
	if err != nil {
		return loadtest.Certificate{}, tls.Certificate{}, fmt.Errorf("create client: %w", err)
	}
	kept, err := loadtest.EnsureCertificate(ctx, c, clock.RealClock{}, types.NamespacedName{Namespace: o.namespace, Name: o.coordinatorSecret})
	if err != nil {
		return loadtest.Certificate{}, tls.Certificate{}, err
	}
	pair, err := tls.X509KeyPair(kept.Cert, kept.Key)
	if err != nil {
		return loadtest.Certificate{}, tls.Certificate{}, fmt.Errorf("read certificate: %w", err)
	}
	return kept, pair, nil
}

func serve(ctx context.Context, c *coordinator.Coordinator, address string, pair tls.Certificate) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("listen for workers: %w", err)
	}
	return c.Serve(ctx, listener, &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS13})
}

// list splits a comma-separated flag.
func list(s string) []string {
	var out []string
	for _, item := range strings.Split(s, ",") {
		if item = strings.TrimSpace(item); item != "" {
			out = append(out, item)
		}
	}
	return out
}
