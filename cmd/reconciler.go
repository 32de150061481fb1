package main

import (
	"context"

	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/desired"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/resultkeeper"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/targetaccess"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/targetstate/podreader"
	"github.com/loadtest-dev/loadtest-operator/controllers/replica"
)

// newReconciler wires the reconciler of LoadTests, all but its policy and who is told of
// its results.
func (o *options) newReconciler(ctx context.Context, mgr manager.Manager, r *replica.Replica, runs *loadtest.Runs) *loadtest.Reconciler {
	counted := loadtest.NewMetrics(metrics.Registry)
	reconciler := &loadtest.Reconciler{
		Client:    mgr.GetClient(),
		Uncached:  mgr.GetAPIReader(),
		Recorder:  mgr.GetEventRecorder("loadtest-operator"),
		Clock:     clock.RealClock{},
		Workers:   r.Workers,
		Runs:      runs,
		Namespace: o.namespace,
		Children: func() desired.Config {
			return desired.Config{WorkerImage: o.workerImage, Coordinator: o.coordinatorAdvertise, CA: r.Certificates.CA()}
		},
		Metrics: counted,
		Keeper: resultkeeper.New(ctx, resultkeeper.Config{
			Reader: mgr.GetAPIReader(), Clock: clock.RealClock{}, Folders: o.folders, Enqueue: runs.Enqueue, Tried: counted.Tried,
		}),
	}
	if o.checkTargets {
		reconciler.TargetAccess = &targetaccess.Checker{Reader: mgr.GetAPIReader(), Own: o.own()}
	}
	if o.readTargets {
		reconciler.TargetPods = &podreader.Reader{API: mgr.GetAPIReader()}
	}
	return reconciler
}
