package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator"
	"github.com/loadtest-dev/loadtest-operator/controllers/desired"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest"
)

// options are the operator's flags.
type options struct {
	coordinatorBind, coordinatorAdvertise, coordinatorSecret string
	workerImage, watchNamespaces                             string
	configMap, configFile                                    string
	metricsBind, probeBind, namespace                        string
	coordinatorService, podIP                                string
	checkTargets                                             bool
	readTargets, metricsSecure                               bool
	metricsMost                                              int
	folders                                                  loadtest.Folders
}

func (o *options) bind(fs *flag.FlagSet) {
	fs.StringVar(&o.coordinatorBind, "coordinator-bind-address", ":9443", "`address` on which workers are served")
	fs.StringVar(&o.coordinatorAdvertise, "coordinator-advertise", "", "`host:port` that workers dial: the leader's Service, or an address of this machine when the operator runs outside the cluster (required)")
	fs.StringVar(&o.coordinatorSecret, "coordinator-secret", "loadtest-operator-coordinator", "`name` of the Secret, in the operator's namespace, that keeps the coordinator's certificate")
	fs.StringVar(&o.workerImage, "worker-image", "", "`image` of workers, where a LoadTest names none (required)")
	fs.StringVar(&o.configMap, "config-map", defaultConfigMap, "`name` of the ConfigMap, in the operator's namespace, with the administrator's configuration (key config.yaml) and the switch that stops runs (key stop.yaml); it is read again when it changes, and may be absent")
	fs.StringVar(&o.configFile, "config", "", "`file` with the administrator's configuration, instead of --config-map: it is read once, and kubectl loadtest stop has no effect")
	fs.StringVar(&o.watchNamespaces, "watch-namespaces", "", "comma-separated `namespaces` whose LoadTests are run; empty: all")
	fs.BoolVar(&o.readTargets, "read-targets", true, "read the pods behind the Service of a target at the beginning and the end of each step, for the result to say what was tested; false: nothing of them is read")
	fs.BoolVar(&o.checkTargets, "check-targets", true, "read what is behind the target of a run, refuse what leads elsewhere than to what is allowed, and tell workers where they may connect to; false, for simulated workers alone: workers connect to nothing")
	fs.StringVar(&o.metricsBind, "metrics-bind-address", ":8443", "`address` of /metrics; 0: none")
	fs.BoolVar(&o.metricsSecure, "metrics-secure", true, "serve /metrics over TLS, and only to those whose bearer token may get that path; false: over plain HTTP to all who ask")
	fs.IntVar(&o.metricsMost, "metrics-max-loadtests", 300, "`number` of LoadTests that have series in the metrics, of some 70 each; loadtest_metrics_left_out is how many have none")
	fs.StringVar(&o.folders.Keys, "keys-folder", "/etc/loadtest-operator/keys", "`folder` with the keys for the results of finished runs: accessKeyID, secretAccessKey and, if there are, sessionToken and ca.crt of the object store, webhookKey and webhook-ca.crt of the webhook")
	fs.StringVar(&o.folders.Results, "results-folder", "/var/lib/loadtest-operator/results", "`folder` in which results.volume of the configuration keeps the results of finished runs")
	fs.StringVar(&o.probeBind, "health-probe-bind-address", ":8081", "`address` of /healthz and /readyz")
	fs.StringVar(&o.namespace, "namespace", os.Getenv("POD_NAMESPACE"), "the operator's own `namespace`; default: $POD_NAMESPACE")
	fs.StringVar(&o.coordinatorService, "coordinator-service", "", "`name` of the Service without a selector, in the operator's namespace, that the leader directs to itself; empty, outside the cluster: none, as workers dial this process")
	fs.StringVar(&o.podIP, "pod-ip", os.Getenv("POD_IP"), "`address` of this replica, for --coordinator-service; default: $POD_IP")
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
	if _, err := o.readConfigFile(); err != nil {
		return err
	}
	if _, err := o.endpoint(); err != nil {
		return err
	}
	// Without a host, a worker would dial itself.
	if host, port, err := net.SplitHostPort(o.coordinatorAdvertise); err != nil || host == "" || port == "" {
		return fmt.Errorf("--coordinator-advertise %q: must be host:port, such as loadtest-operator-leader.loadtest-system.svc:9443", o.coordinatorAdvertise)
	}
	return nil
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == "check" {
		if err := check(ctrl.SetupSignalHandler(), os.Args[2:], os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	var o options
	o.bind(flag.CommandLine)
	zapOptions := zap.Options{}
	zapOptions.BindFlags(flag.CommandLine)
	flag.Parse()
	ctrl.SetLogger(zap.New(zap.UseFlagOptions(&zapOptions)))
	limitMemory()
	if err := run(ctrl.SetupSignalHandler(), o); err != nil {
		ctrl.Log.Error(err, "operator ends")
		os.Exit(1)
	}
}

// run serves until ctx ends. It returns an error for what only its user can mend; after
// others the process starts over.
func run(ctx context.Context, o options) error {
	if err := o.validate(); err != nil {
		return err
	}
	config, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("find the cluster: %w", err)
	}
	r, err := newReplica(config, o)
	if err != nil {
		return err
	}
	if err := r.serveProbes(ctx, o.probeBind); err != nil {
		return err
	}
	if err := operate(ctx, config, r, o); err != nil {
		pause(ctx, restartPause)
		startOver(ctx, err)
	}
	return nil
}

// operate wires the operator and runs it until ctx ends. It waits for the API server
// first, which a manager cannot do without.
func operate(ctx context.Context, config *rest.Config, r *replica, o options) error {
	if err := r.readCertificate(ctx); err != nil {
		return nil // ctx has ended
	}
	if err := r.awaitSchemas(ctx, config); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	lock, err := newLease(config, o.namespace, r.prepared, func(reason error) { startOver(ctx, reason) })
	if err != nil {
		return err
	}
	mgr, err := newManager(config, lock, o)
	if err != nil {
		return err
	}
	runs := loadtest.NewRuns()
	r.workers = coordinator.New(loadtest.NewAuthenticator(mgr.GetClient(), clock.RealClock{}), clock.RealClock{}, runs.Notify, metrics.Registry)
	r.workers.Log = ctrl.Log.WithName("coordinator")
	reconciler := &loadtest.Reconciler{
		Client:   mgr.GetClient(),
		Recorder: mgr.GetEventRecorder("loadtest-operator"),
		Clock:    clock.RealClock{},
		Workers:  r.workers,
		Runs:     runs,
		Children: func() desired.Config {
			return desired.Config{WorkerImage: o.workerImage, Coordinator: o.coordinatorAdvertise, CA: r.certificates.CA()}
		},
		LooksAtTargets: o.readTargets, ChecksTargets: o.checkTargets,
		Own:     o.own(),
		Metrics: loadtest.NewMetrics(metrics.Registry),
		Keeper:  loadtest.NewKeeper(ctx, clock.RealClock{}, runs.Enqueue), Folders: o.folders,
	}
	shown := o.shown(ctx, mgr, r.workers)
	reconciler.Finished = shown.Finished
	metrics.Registry.MustRegister(shown)
	changed := policyChanged{reconciler.PolicyChanged}
	configured, err := o.configure(config, mgr, reconciler, &changed)
	if err != nil {
		return err
	}
	if err := reconciler.SetupWithManager(mgr); err != nil {
		return fmt.Errorf("set up reconciler: %w", err)
	}
	kinds, err := schedule(mgr, reconciler, &changed)
	if err != nil {
		return err
	}
	watch := func(ctx context.Context) error { return r.watch(ctx, mgr.GetCache(), configured, kinds) }
	// What leads runs on the leader alone: a Runnable needs leader election by default.
	if err := errors.Join(
		mgr.Add(everywhere(watch)),
		mgr.Add(everywhere(r.keepCertificate)),
		mgr.Add(newMetricsServer(mgr.GetClient(), r.certificates, o)),
		mgr.Add(manager.RunnableFunc(r.lead)),
	); err != nil {
		return err
	}
	return mgr.Start(ctx)
}

func newManager(config *rest.Config, lock *lease, o options) (manager.Manager, error) {
	scheme, err := newScheme()
	if err != nil {
		return nil, err
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
		Scheme:                              scheme,
		Cache:                               caches,
		Metrics:                             metricsserver.Options{BindAddress: "0"}, // see metricsServer
		HealthProbeBindAddress:              "0",                                     // the replica's own are there before the manager
		LeaderElection:                      true,
		LeaderElectionID:                    leaseName,
		LeaderElectionResourceLockInterface: lock,
		LeaderElectionReleaseOnCancel:       true,
		LeaseDuration:                       ptr.To(leaseDuration),
		RenewDeadline:                       ptr.To(renewDeadline),
		RetryPeriod:                         ptr.To(retryPeriod),
		GracefulShutdownTimeout:             ptr.To(gracePeriod),
	})
	if err != nil {
		return nil, fmt.Errorf("create manager: %w", err)
	}
	return mgr, nil
}

func newScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	return scheme, errors.Join(clientgoscheme.AddToScheme(scheme), v1alpha1.AddToScheme(scheme))
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

// own is where the operator runs.
func (o *options) own() loadtest.Own {
	own := loadtest.Own{Namespace: o.namespace}
	if a, err := netip.ParseAddr(o.podIP); err == nil {
		own.Addresses = append(own.Addresses, a)
	}
	return own
}
