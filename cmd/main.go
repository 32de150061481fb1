package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator"
	"github.com/loadtest-dev/loadtest-operator/controllers/identity"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/firstread"
	"github.com/loadtest-dev/loadtest-operator/controllers/replica"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "check" {
		if err := check(os.Args[2:]); err != nil {
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
	replica.LimitMemory()
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
	scheme, err := newScheme()
	if err != nil {
		return err
	}
	r, err := o.newReplica(config, scheme)
	if err != nil {
		return err
	}
	if err := r.ServeProbes(ctx, o.probeBind); err != nil {
		return err
	}
	if err := operate(ctx, config, scheme, r, o); err != nil {
		replica.Pause(ctx, replica.RestartPause)
		replica.StartOver(ctx, err)
	}
	return nil
}

// check looks at what is installed, as helm test has it.
func check(args []string) error {
	scheme, err := newScheme()
	if err != nil {
		return err
	}
	return replica.Check(ctrl.SetupSignalHandler(), scheme, args, os.Stdout)
}

func (o *options) newReplica(config *rest.Config, scheme *runtime.Scheme) (*replica.Replica, error) {
	endpoint, err := o.endpoint()
	if err != nil {
		return nil, err
	}
	direct, err := replica.NewClient(config, scheme)
	if err != nil {
		return nil, err
	}
	return replica.New(replica.Config{
		Client: direct, Endpoint: endpoint, Bind: o.coordinatorBind,
		Certificate: types.NamespacedName{Namespace: o.namespace, Name: o.coordinatorSecret},
	}), nil
}

// operate wires the operator and runs it until ctx ends. It waits for the API server
// first, which a manager cannot do without.
func operate(ctx context.Context, config *rest.Config, scheme *runtime.Scheme, r *replica.Replica, o options) error {
	if err := r.ReadCertificate(ctx); err != nil {
		return nil // ctx has ended
	}
	if err := r.AwaitSchemas(ctx, config); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	lock, err := r.NewLease(config, types.NamespacedName{Namespace: o.namespace, Name: o.lease}, func(reason error) { replica.StartOver(ctx, reason) })
	if err != nil {
		return err
	}
	mgr, reading, err := newManager(config, scheme, lock, o)
	if err != nil {
		return err
	}
	runs := loadtest.NewRuns()
	r.Workers = coordinator.New(identity.New(mgr.GetClient(), clock.RealClock{}), clock.RealClock{}, runs.Notify, metrics.Registry)
	r.Workers.Log = ctrl.Log.WithName("coordinator")
	reconciler, err := o.newReconciler(ctx, mgr, r, runs, reading)
	if err != nil {
		return err
	}
	shown := o.shown(ctx, mgr, r.Workers)
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
	watch := func(ctx context.Context) error {
		if err := r.Watch(ctx, mgr.GetCache(), configured, kinds); err != nil {
			return err
		}
		return beginWhenRead(ctx, reading, &changed)
	}
	// What leads runs on the leader alone: a Runnable needs leader election by default.
	if err := errors.Join(
		mgr.Add(replica.Everywhere(watch)),
		mgr.Add(replica.Everywhere(r.KeepCertificate)),
		mgr.Add(replica.NewMetricsServer(o.metricsBind, o.metricsSecure, mgr.GetClient(), r.Certificates)),
		mgr.Add(manager.RunnableFunc(r.Lead)),
		o.pushMetrics(mgr),
	); err != nil {
		return err
	}
	return mgr.Start(ctx)
}

func newManager(config *rest.Config, scheme *runtime.Scheme, lock *replica.Lease, o options) (manager.Manager, *firstread.Reading, error) {
	caches, reading, err := loadtest.CacheOptions(list(o.watchNamespaces)...)
	if err != nil {
		return nil, nil, err
	}
	options := lock.Election()
	options.Scheme, options.Cache = scheme, caches
	options.Metrics = metricsserver.Options{BindAddress: "0"} // the replica has a server of its own
	options.HealthProbeBindAddress = "0"                      // likewise, and before there is a manager
	mgr, err := ctrl.NewManager(config, options)
	if err != nil {
		return nil, nil, fmt.Errorf("create manager: %w", err)
	}
	return mgr, reading, nil
}

func newScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	return scheme, errors.Join(clientgoscheme.AddToScheme(scheme), v1beta1.AddToScheme(scheme))
}
