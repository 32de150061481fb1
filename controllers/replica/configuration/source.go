package configuration

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/controllers/writes"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// +kubebuilder:rbac:groups="",namespace=system,resources=configmaps,resourceNames=loadtest-operator-config,verbs=list;watch
// +kubebuilder:rbac:groups=events.k8s.io,namespace=system,resources=events,verbs=create;patch

// reasonConfigurationInvalid is that of an event of the ConfigMap.
const reasonConfigurationInvalid = "ConfigurationInvalid"

// Source reads the administrator's configuration from a ConfigMap of the operator's
// namespace. Its exported fields are set before it is used, and not changed.
type Source struct {
	ConfigMap types.NamespacedName
	Clock     clock.PassiveClock
	Log       logr.Logger
	// Recorder emits events of the ConfigMap.
	Recorder events.EventRecorder
	// Changed is called when another policy is in force.
	Changed func(context.Context)
	// Metrics may be nil.
	Metrics *Metrics

	mu      sync.Mutex // one reading after the other
	data    map[string]string
	inForce atomic.Pointer[policy.Policy]
}

// Policy is the one in force: before the first reading one by which no run begins.
func (c *Source) Policy() *policy.Policy {
	if p := c.inForce.Load(); p != nil {
		return p
	}
	return policy.Unread()
}

// Watch reads the ConfigMap, and again each time that it changes until ctx ends. It
// returns when it was read once, or limited ends.
func (c *Source) Watch(ctx, limited context.Context, config *rest.Config, scheme *runtime.Scheme) error {
	only, err := cache.New(config, cache.Options{
		Scheme: scheme,
		DefaultNamespaces: map[string]cache.Config{
			c.ConfigMap.Namespace: {FieldSelector: fields.OneTermEqualSelector("metadata.name", c.ConfigMap.Name)},
		},
	})
	if err != nil {
		return fmt.Errorf("make a cache of the configuration: %w", err)
	}
	go func() { _ = only.Start(ctx) }() // it fails only if it is started twice
	informer, err := only.GetInformer(limited, &corev1.ConfigMap{})
	if err != nil {
		return fmt.Errorf("watch ConfigMap %s, for which the operator needs the right to list and watch it: %w", c.ConfigMap, err)
	}
	read := func() { c.read(ctx, only) }
	_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc: func(any) { read() }, UpdateFunc: func(any, any) { read() }, DeleteFunc: func(any) { read() },
	})
	if err != nil {
		return fmt.Errorf("watch ConfigMap %s: %w", c.ConfigMap, err)
	}
	read() // there may be none
	return nil
}

// read takes the ConfigMap as the cache has it now.
func (c *Source) read(ctx context.Context, from cache.Cache) {
	c.mu.Lock()
	defer c.mu.Unlock()
	found := &corev1.ConfigMap{}
	err := from.Get(ctx, c.ConfigMap, found)
	switch {
	case apierrors.IsNotFound(err):
		c.take(ctx, nil)
	case err != nil:
		c.Log.Error(err, "cannot read the configuration") // not reached: it is a lookup in memory
	default:
		c.take(ctx, found)
	}
}

// take puts in force what the ConfigMap says, or says why that cannot be; nil: there is
// none.
func (c *Source) take(ctx context.Context, found *corev1.ConfigMap) {
	var data map[string]string
	if found != nil {
		data = found.Data
	}
	last := c.inForce.Load()
	if last != nil && maps.Equal(data, c.data) {
		return
	}
	c.data = data
	next, problem := policy.Next(last, data)
	c.inForce.Store(next)
	c.Metrics.took(data, problem == nil, c.Clock.Now())
	if problem != nil {
		message := text.Clean(problem.Error(), writes.MaxMessage)
		c.Log.Error(problem, "the configuration is invalid", "configMap", c.ConfigMap)
		c.Recorder.Eventf(found, nil, corev1.EventTypeWarning, reasonConfigurationInvalid, "Load", "%s", message)
	} else {
		c.Log.Info("the configuration is in force", "configMap", c.ConfigMap, "found", found != nil)
	}
	if last != nil {
		c.Changed(ctx)
	}
}
