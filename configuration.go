package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
)

// defaultConfigMap is that of config/default and of a release with the chart's name.
const defaultConfigMap = "loadtest-operator-config"

// readConfigFile is the policy of --config; nil: there is none.
func (o *options) readConfigFile() (*policy.Policy, error) {
	if o.configFile == "" {
		return nil, nil
	}
	if o.configMap != defaultConfigMap {
		return nil, errors.New("--config and --config-map exclude each other: give one of them")
	}
	document, err := os.ReadFile(o.configFile)
	if err != nil {
		return nil, fmt.Errorf("--config: %w", err)
	}
	p, err := policy.Load(document)
	if err != nil {
		return nil, fmt.Errorf("--config %s: %w", o.configFile, err)
	}
	return p, nil
}

// configured reads the administrator's configuration, and again when it changes until ctx
// ends. It returns when it was read once, or limited ends.
type configured func(ctx, limited context.Context) error

// configure has the reconciler keep to the administrator's configuration.
func (o *options) configure(config *rest.Config, mgr manager.Manager, r *loadtest.Reconciler, changed *policyChanged) (configured, error) {
	fixed, err := o.readConfigFile()
	if err != nil {
		return nil, err
	}
	if fixed != nil {
		r.Policy = func() *policy.Policy { return fixed }
		return func(context.Context, context.Context) error { return nil }, nil
	}
	log := ctrl.Log.WithName("configuration")
	c := &loadtest.Configuration{
		ConfigMap: types.NamespacedName{Namespace: o.namespace, Name: o.configMap},
		Clock:     clock.RealClock{},
		Log:       log,
		Recorder:  r.Recorder,
		Changed: func(ctx context.Context) {
			if err := changed.notify(ctx); err != nil {
				log.Error(err, "cannot have the runs keep to the configuration at once")
			}
		},
		Metrics: loadtest.NewConfigurationMetrics(metrics.Registry),
	}
	r.Policy = c.Policy
	return func(ctx, limited context.Context) error { return c.Watch(ctx, limited, config, mgr.GetScheme()) }, nil
}
