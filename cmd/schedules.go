package main

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtestschedule"
)

// schedule has the LoadTests of LoadTestSchedules started, and returns the kinds that a
// leader watches. Helm does not upgrade CRDs: in a cluster that lacks this one, LoadTests
// run all the same.
func schedule(mgr manager.Manager, runs *loadtest.Reconciler, changed *policyChanged) ([]client.Object, error) {
	kind := schema.GroupKind{Group: v1beta1.GroupVersion.Group, Kind: "LoadTestSchedule"}
	_, err := mgr.GetRESTMapper().RESTMapping(kind, v1beta1.GroupVersion.Version)
	switch {
	case meta.IsNoMatchError(err):
		ctrl.Log.Info("LoadTestSchedules start nothing, because their CRD does not exist: apply it and restart the operator")
		return loadtest.Watched(), nil
	case err != nil:
		return nil, fmt.Errorf("look for the CRD of LoadTestSchedules: %w", err)
	}
	r := &loadtestschedule.Reconciler{
		Client: mgr.GetClient(), Recorder: runs.Recorder, Clock: clock.RealClock{}, Policy: runs.Policy, RunsRead: runs.Reading.Complete,
	}
	if err := r.SetupWithManager(mgr); err != nil {
		return nil, fmt.Errorf("set up the reconciler of schedules: %w", err)
	}
	*changed = append(*changed, r.PolicyChanged)
	return append(loadtest.Watched(), &v1beta1.LoadTestSchedule{}), nil
}

// policyChanged are those that keep to the administrator's configuration.
type policyChanged []func(context.Context) error

// notify has all of them keep to it at once.
func (p policyChanged) notify(ctx context.Context) error {
	var errs []error
	for _, f := range p {
		errs = append(errs, f(ctx))
	}
	return errors.Join(errs...)
}
