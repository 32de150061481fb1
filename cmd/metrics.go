package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"go.opentelemetry.io/otel"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/controllers/replica/metricspush"
	"github.com/loadtest-dev/loadtest-operator/controllers/runmetrics"
)

// listTimeout bounds how long a page of metrics waits for the cache.
const listTimeout = 5 * time.Second

// shown is the collector of the metrics of LoadTests, which only the leader has.
func (o *options) shown(ctx context.Context, mgr manager.Manager, workers *coordinator.Coordinator) *runmetrics.Collector {
	return &runmetrics.Collector{
		Log: ctrl.Log.WithName("metrics"), Leads: mgr.Elected(), Most: o.metricsMost, MostRequests: o.metricsMostRequests,
		List: func() ([]v1beta1.LoadTest, error) {
			limited, cancel := context.WithTimeout(ctx, listTimeout)
			defer cancel()
			var list v1beta1.LoadTestList
			err := mgr.GetCache().List(limited, &list, client.UnsafeDisableDeepCopy)
			return list.Items, err
		},
		Observe: func(uid types.UID) *exchange.Report { return workers.Observe(coordinator.RunID(uid)).Step },
	}
}

// pushMetrics has each replica push what its /metrics has, if there is a collector.
func (o *options) pushMetrics(mgr manager.Manager) error {
	if o.otlp.Endpoint == "" {
		return nil
	}
	log := ctrl.Log.WithName("otlp")
	// The libraries have no other way to say that a metric was left out.
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { log.V(1).Info("OpenTelemetry", "error", err.Error()) }))
	c := o.otlp
	c.Namespace = o.namespace
	c.Pod, _ = os.Hostname() // of a pod it is its name
	pusher, err := metricspush.New(c, metrics.Registry, metrics.Registry, log)
	if err != nil {
		return fmt.Errorf("--otlp-endpoint: %w", err)
	}
	return mgr.Add(pusher)
}
