package configuration_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr/testr"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/controllers/replica/configuration"
	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
	"github.com/loadtest-dev/loadtest-operator/test/await"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// configured is a configuration that is watched, and the ConfigMap that it is read from.
type configured struct {
	*configuration.Source
	t        *testing.T
	cm       *corev1.ConfigMap
	events   *events.FakeRecorder
	registry *prometheus.Registry
	changes  atomic.Int32
}

func newConfigured(t *testing.T) *configured {
	c := &configured{t: t, cm: &corev1.ConfigMap{}, events: events.NewFakeRecorder(10), registry: prometheus.NewRegistry()}
	c.cm.Namespace, c.cm.Name = apiserver.Namespace(t), "config"
	c.Source = &configuration.Source{
		ConfigMap: types.NamespacedName{Namespace: c.cm.Namespace, Name: c.cm.Name},
		Clock:     clock.RealClock{}, Log: testr.New(t), Recorder: c.events,
		Changed: func(context.Context) { c.changes.Add(1) },
		Metrics: configuration.NewMetrics(c.registry),
	}
	return c
}

// watch watches until the test ends.
func (c *configured) watch() {
	c.t.Helper()
	limited, cancel := context.WithTimeout(c.t.Context(), time.Minute)
	defer cancel()
	must.Succeed(c.t, c.Watch(c.t.Context(), limited, apiserver.Config(c.t), apiserver.Client(c.t).Scheme()))
}

// write creates the ConfigMap or changes what it has.
func (c *configured) write(config string) {
	c.t.Helper()
	c.cm.Data = map[string]string{"config.yaml": config}
	err := error(nil)
	if c.cm.ResourceVersion == "" {
		err = apiserver.Client(c.t).Create(c.t.Context(), c.cm)
	} else {
		err = apiserver.Client(c.t).Update(c.t.Context(), c.cm)
	}
	must.Succeed(c.t, err)
}

// becomes waits until the policy in force allows a host, and no other.
func (c *configured) becomes(what, host string) {
	c.t.Helper()
	c.eventually(what, func() bool {
		targets := c.Policy().For("a").Targets
		for _, h := range []string{"one.example", "two.example"} {
			if targets.Allows(h) != (h == host) {
				return false
			}
		}
		return true
	})
}

// told waits until that many changes have been told, which is the last that is done about
// each.
func (c *configured) told(changes int32) {
	c.t.Helper()
	c.eventually("the change has been told", func() bool { return c.changes.Load() >= changes })
}

func (c *configured) eventually(what string, holds func() bool) {
	c.t.Helper()
	await.True(c.t, what, holds)
}

// metric is the value of a metric.
func (c *configured) metric(name string) float64 {
	c.t.Helper()
	families, err := c.registry.Gather()
	must.Succeed(c.t, err)
	for _, f := range families {
		if f.GetName() == name {
			return f.GetMetric()[0].GetGauge().GetValue()
		}
	}
	c.t.Fatalf("there is no metric %s", name)
	return 0
}

func allowing(host string) string { return "targets: {rules: [{hosts: [" + host + "]}]}" }

func TestConfigurationIsReadAgainWhenItChanges(t *testing.T) {
	t.Parallel()
	c := newConfigured(t)
	if hold := c.Policy().For("a").Hold(time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)); hold == nil || hold.Cause != policy.Invalid {
		t.Error("runs begin before the configuration was read")
	}
	c.watch()
	if c.Policy().For("a").Hold(time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)) != nil || c.metric("loadtest_config_valid") != 1 {
		t.Error("runs do not begin without a ConfigMap")
	}
	c.write(allowing("one.example"))
	c.becomes("the new ConfigMap is in force", "one.example")
	c.told(1)
	hash := c.metric("loadtest_config_hash")

	c.write("target: {}")
	c.eventually("it is said to be invalid", func() bool { return c.metric("loadtest_config_valid") == 0 })
	if said := <-c.events.Events; said != `Warning ConfigurationInvalid config.yaml: unknown field "target"` {
		t.Errorf("event %q", said)
	}
	c.becomes("the last valid one stays in force", "one.example")
	c.told(2)
	if c.metric("loadtest_config_hash") != hash {
		t.Error("the hash is not that of the one in force")
	}

	c.write(allowing("two.example"))
	c.becomes("the corrected one is in force", "two.example")
	c.told(3)
	if c.metric("loadtest_config_valid") != 1 || c.metric("loadtest_config_hash") == hash || c.metric("loadtest_config_valid_timestamp_seconds") == 0 {
		t.Error("the metrics are not those of the corrected one")
	}
	must.Succeed(t, apiserver.Client(t).Delete(t.Context(), c.cm))
	c.becomes("a ConfigMap that is gone allows nothing", "")
	if c.told(4); c.changes.Load() != 4 {
		t.Errorf("%d changes have been told, want 4", c.changes.Load())
	}
}

func TestConfigurationThatIsInvalidAtTheStartHoldsRuns(t *testing.T) {
	t.Parallel()
	c := newConfigured(t)
	c.write("target: {}")
	c.watch()
	held := c.Policy().For("a").Hold(time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC))
	if held == nil || held.Cause != policy.Invalid || !strings.Contains(held.Why, `config.yaml: unknown field "target"`) {
		t.Errorf("runs are held by %+v, want by what is invalid", held)
	}
	c.write("limits: {runs: 10000}")
	c.becomes("the corrected one is in force", "")
	c.eventually("runs may begin", func() bool { return c.Policy().For("a").Hold(time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)) == nil })
}

// Another ConfigMap of the namespace, and one of its name in another, are not read.
func TestConfigurationIsOneConfigMap(t *testing.T) {
	t.Parallel()
	c := newConfigured(t)
	for _, key := range []client.ObjectKey{{Namespace: c.cm.Namespace, Name: "other"}, {Namespace: apiserver.Namespace(t), Name: "config"}} {
		cm := &corev1.ConfigMap{Data: map[string]string{"config.yaml": allowing("one.example")}}
		cm.Namespace, cm.Name = key.Namespace, key.Name
		must.Succeed(t, apiserver.Client(t).Create(t.Context(), cm))
	}
	c.watch()
	c.write(allowing("two.example"))
	c.becomes("that of the name is in force", "two.example")
}
