package main

import (
	"context"
	"fmt"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/loadtest-dev/loadtest-operator/controllers/answersize"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/desired"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/firstread"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/question/prometheus"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/resultkeeper"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/targetaccess"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/targetstate/podreader"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/targetstate/usagereader"
	"github.com/loadtest-dev/loadtest-operator/controllers/replica"
)

// newReconciler wires the reconciler of LoadTests, all but its policy and who is told of
// its results.
func (o *options) newReconciler(ctx context.Context, mgr manager.Manager, r *replica.Replica, runs *loadtest.Runs, reading *firstread.Reading) (*loadtest.Reconciler, error) {
	reader, err := newTargetReader(mgr)
	if err != nil {
		return nil, err
	}
	counted := loadtest.NewMetrics(metrics.Registry)
	reconciler := &loadtest.Reconciler{
		Client:    mgr.GetClient(),
		Uncached:  mgr.GetAPIReader(),
		Recorder:  mgr.GetEventRecorder("loadtest-operator"),
		Clock:     clock.RealClock{},
		Workers:   r.Workers,
		Runs:      runs,
		Reading:   reading,
		Namespace: o.namespace,
		Children: func() desired.Config {
			return desired.Config{WorkerImage: o.workerImage, Coordinator: o.coordinatorAdvertise, CA: r.Certificates.CA()}
		},
		Prometheus: &prometheus.Asker{Folder: o.prometheusFolder},

		Metrics: counted,
		Keeper: resultkeeper.New(ctx, resultkeeper.Config{
			Reader: mgr.GetAPIReader(), Clock: clock.RealClock{}, Folders: o.folders, Enqueue: runs.Enqueue, Tried: counted.Tried,
		}),
	}
	if o.checkTargets {
		reconciler.TargetAccess = &targetaccess.Checker{Reader: reader, Own: o.own()}
	}
	if o.readTargets {
		reconciler.TargetPods = &podreader.Reader{API: reader}
	}
	if o.readUsage {
		reader, err := newUsageReader(mgr)
		if err != nil {
			return nil, err
		}
		reconciler.TargetUsage = reader
	}
	return reconciler, nil
}

// newTargetReader makes what reads what is behind targets, of which no answer is too large.
func newTargetReader(mgr manager.Manager) (client.Reader, error) {
	config := rest.CopyConfig(mgr.GetConfig())
	config.Wrap(answersize.Wrap)
	reader, err := client.New(config, client.Options{Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper()})
	if err != nil {
		return nil, fmt.Errorf("make a client for what is behind targets: %w", err)
	}
	return reader, nil
}

// newUsageReader makes what reads the use of pods. Its few requests have no limit of their own: a
// run makes one in 5 s.
func newUsageReader(mgr manager.Manager) (*usagereader.Reader, error) {
	clients, err := kubernetes.NewForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return nil, fmt.Errorf("make a client for the use of pods: %w", err)
	}
	return &usagereader.Reader{API: mgr.GetAPIReader(), Metrics: clients.Discovery().RESTClient()}, nil
}

// beginWhenRead has the runs begin that wait, and schedules start them, once all LoadTests have been
// read.
func beginWhenRead(ctx context.Context, reading *firstread.Reading, changed *policyChanged) error {
	started := time.Now()
	select {
	case <-ctx.Done():
		return nil
	case <-reading.Done():
	}
	ctrl.Log.Info("All LoadTests have been read: those that wait may begin", "seconds", time.Since(started).Seconds())
	return changed.notify(ctx)
}
