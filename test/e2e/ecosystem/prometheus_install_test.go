//go:build e2e

package ecosystem

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// prometheus is one that the Prometheus Operator runs.
type prometheus struct{ namespace string }

// installPrometheus puts the Prometheus Operator and a Prometheus into the cluster, and
// everything that our chart has for them. It goes away with the test.
func installPrometheus(t *testing.T) *prometheus {
	t.Helper()
	p := &prometheus{cluster.Namespace(t)}
	module := strings.TrimSpace(cluster.MustCommand(t, "go", "-C", "../../../hack/components/prometheus-operator", "list", "-m", "-f", "{{.Dir}}", "github.com/prometheus-operator/prometheus-operator"))
	crds := filepath.Join(module, "example", "prometheus-operator-crd")
	t.Cleanup(func() { p.clean(t, "delete", "--ignore-not-found", "-f", crds) })
	cluster.MustCommand(t, "kubectl", "apply", "--server-side", "-f", crds)
	cluster.MustCommand(t, "kubectl", "wait", "--for=condition=Established", "-f", crds)
	manifest := must.ReadFile(t, "prometheus.yaml")
	text := strings.NewReplacer("NAMESPACE", p.namespace, "IMAGE", cluster.Image("prometheus"), "TAG", cluster.ImageTag()).Replace(string(manifest))
	t.Cleanup(func() {
		p.clean(t, "-n", p.namespace, "delete", "prometheus", "--all")
		p.clean(t, "delete", "clusterrolebindings,clusterroles", "--ignore-not-found", p.namespace+"-prometheus-operator", p.namespace+"-prometheus")
	})
	apply := exec.CommandContext(t.Context(), "kubectl", "apply", "--server-side", "-f", "-")
	apply.Stdin = strings.NewReader(text)
	if out, err := apply.CombinedOutput(); err != nil {
		t.Fatalf("apply prometheus.yaml: %v\n%s", err, out)
	}
	p.monitorOperator(t)
	cluster.MustCommand(t, "kubectl", "-n", p.namespace, "rollout", "status", "deployment/prometheus-operator", "--timeout="+cluster.Patience.String())
	p.eventually(t, "Prometheus is ready", func() (bool, string) {
		out, err := cluster.Command(t.Context(), "kubectl", "-n", p.namespace, "get", "prometheus", "loadtest", "-o", "jsonpath={.status.availableReplicas}")
		return err == nil && out == "1", fmt.Sprint(out, err)
	})
	return p
}

// monitorOperator turns on what the chart has for Prometheus and Grafana.
func (p *prometheus) monitorOperator(t *testing.T) {
	t.Helper()
	upgrade := []string{"upgrade", "loadtest-operator", "../../../charts/loadtest-operator", "--namespace", cluster.OperatorNamespace, "--reuse-values"}
	t.Cleanup(func() {
		args := append(upgrade, "--set", "metrics.serviceMonitor.enabled=false,metrics.prometheusRule.enabled=false,metrics.dashboard.enabled=false,metrics.readers=null")
		if _, err := cluster.Command(context.Background(), "helm", args...); err != nil {
			t.Error(err)
		}
	})
	cluster.MustCommand(t, "helm", append(upgrade,
		"--set", "metrics.serviceMonitor.enabled=true,metrics.serviceMonitor.interval=2s,metrics.prometheusRule.enabled=true,metrics.dashboard.enabled=true",
		"--set", "metrics.readers[0].name=prometheus,metrics.readers[0].namespace="+p.namespace)...)
}

// clean undoes a part of it, after the test.
func (p *prometheus) clean(t *testing.T, args ...string) {
	if t.Failed() {
		out, _ := cluster.Command(context.Background(), "kubectl", "-n", p.namespace, "logs", "-l", "app=prometheus-operator", "--tail=20")
		t.Log(out)
	}
	if _, err := cluster.Command(context.Background(), "kubectl", args...); err != nil {
		t.Error(err)
	}
}

// sample is a series with its last value.
type sample struct {
	labels map[string]string
	value  float64
}

// get asks the API of Prometheus.
func (p *prometheus) get(ctx context.Context, path string, params map[string]string, into any) error {
	raw, err := cluster.Clientset.CoreV1().Pods(p.namespace).ProxyGet("http", "prometheus-loadtest-0", "9090", "/api/v1/"+path, params).DoRaw(ctx)
	if err != nil {
		return fmt.Errorf("ask Prometheus for %s %v: %w\n%s", path, params, err, raw)
	}
	answer := struct{ Data any }{into}
	return json.NewDecoder(bytes.NewReader(raw)).Decode(&answer)
}

// query returns the series of an expression now.
func (p *prometheus) query(t *testing.T, expr string) []sample {
	t.Helper()
	var vector struct {
		Result []struct {
			Metric map[string]string
			Value  [2]any
		}
	}
	must.Succeed(t, p.get(t.Context(), "query", map[string]string{"query": expr}, &vector))
	var samples []sample
	for _, r := range vector.Result {
		value, err := strconv.ParseFloat(r.Value[1].(string), 64)
		must.Succeed(t, err)
		samples = append(samples, sample{r.Metric, value})
	}
	return samples
}

// value is that of an expression of one series.
func (p *prometheus) value(t *testing.T, expr string) float64 {
	t.Helper()
	samples := p.query(t, expr)
	if len(samples) != 1 {
		t.Fatalf("%s has %d series, want 1: %v", expr, len(samples), samples)
	}
	return samples[0].value
}

// points counts the values that an expression has had since then, those of empty
// histograms left out.
func (p *prometheus) points(t *testing.T, expr string, since time.Time) int {
	t.Helper()
	var matrix struct {
		Result []struct{ Values [][2]any }
	}
	// The instants are counted back from now, so that what has just been scraped is among them.
	const step = 2 * time.Second
	end := time.Now()
	at := func(t time.Time) string { return fmt.Sprintf("%.3f", float64(t.UnixMilli())/1000) }
	err := p.get(t.Context(), "query_range", map[string]string{
		"query": expr, "start": at(end.Add(-end.Sub(since).Truncate(step))), "end": at(end), "step": fmt.Sprint(step.Seconds()),
	}, &matrix)
	must.Succeed(t, err)
	n := 0
	for _, r := range matrix.Result {
		for _, v := range r.Values {
			if v[1] != "NaN" {
				n++
			}
		}
	}
	return n
}

// eventually waits until that is so, and fails with what was seen last.
func (p *prometheus) eventually(t *testing.T, what string, f func() (ok bool, seen string)) {
	t.Helper()
	cluster.Soon(t, func(context.Context) error {
		if ok, seen := f(); !ok {
			return fmt.Errorf("%s is not so: %s", what, seen)
		}
		return nil
	})
}
