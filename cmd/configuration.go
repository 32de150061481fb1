package main

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/controllers/replica"
	"github.com/loadtest-dev/loadtest-operator/controllers/replica/configuration"
)

// configure has the reconciler keep to the administrator's configuration.
func (o *options) configure(config *rest.Config, mgr manager.Manager, r *loadtest.Reconciler, changed *policyChanged) (replica.Configured, error) {
	fixed, err := o.readConfigFile()
	if err != nil {
		return nil, err
	}
	if fixed != nil {
		r.Policy = func() *policy.Policy { return fixed }
		return func(context.Context, context.Context) error { return nil }, nil
	}
	log := ctrl.Log.WithName("configuration")
	c := &configuration.Source{
		ConfigMap: types.NamespacedName{Namespace: o.namespace, Name: o.configMap},
		Clock:     clock.RealClock{},
		Log:       log,
		Recorder:  r.Recorder,
		Changed: func(ctx context.Context) {
			if err := changed.notify(ctx); err != nil {
				log.Error(err, "cannot apply the configuration to current runs; they read it on their next pass")
			}
		},
		Metrics: configuration.NewMetrics(metrics.Registry),
	}
	r.Policy = c.Policy
	return func(ctx, limited context.Context) error { return c.Watch(ctx, limited, config, mgr.GetScheme()) }, nil
}
