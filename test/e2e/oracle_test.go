//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// served is what the replicas of the rate limiter say they decided.
type served struct{ granted, denied, failed int64 }

func (s served) total() int64 { return s.granted + s.denied + s.failed }

// ask reads the counters of every replica, each from its own pod.
func ask(t *testing.T, namespace string) served {
	t.Helper()
	var pods corev1.PodList
	if err := cluster.List(t.Context(), &pods, client.InNamespace(namespace), client.MatchingLabels{"app.kubernetes.io/component": "app"}); err != nil {
		t.Fatal(err)
	}
	if len(pods.Items) == 0 {
		t.Fatal("the rate limiter has no pods")
	}
	var sum served
	for _, pod := range pods.Items {
		if n := restarts(pod); n > 0 {
			t.Fatalf("pod %s was restarted %d times: its count is lost", pod.Name, n)
		}
		s, err := askPod(t.Context(), namespace, pod.Name)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s on %s: granted %d, denied %d, failed %d", pod.Name, pod.Spec.NodeName, s.granted, s.denied, s.failed)
		sum.granted += s.granted
		sum.denied += s.denied
		sum.failed += s.failed
	}
	return sum
}

func restarts(pod corev1.Pod) (n int32) {
	for _, c := range pod.Status.ContainerStatuses {
		n += c.RestartCount
	}
	return n
}

// metricsOf reads the metrics of a pod of a target.
func metricsOf(ctx context.Context, namespace, pod string) (map[string]*dto.MetricFamily, error) {
	text, err := cluster.pods.CoreV1().Pods(namespace).ProxyGet("http", pod, "8080", "/metrics", nil).DoRaw(ctx)
	if err != nil {
		return nil, fmt.Errorf("read metrics of %s: %w", pod, err)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(string(text)))
	if err != nil {
		return nil, fmt.Errorf("parse metrics of %s: %w", pod, err)
	}
	return families, nil
}

func askPod(ctx context.Context, namespace, pod string) (served, error) {
	families, err := metricsOf(ctx, namespace, pod)
	if err != nil {
		return served{}, err
	}
	family, ok := families["ratelimiter_requests_total"]
	if !ok {
		return served{}, fmt.Errorf("%s has no ratelimiter_requests_total", pod)
	}
	var s served
	for _, m := range family.GetMetric() {
		n := int64(m.GetCounter().GetValue())
		for _, l := range m.GetLabel() {
			switch {
			case l.GetName() != "decision":
			case l.GetValue() == "granted":
				s.granted += n
			case l.GetValue() == "denied":
				s.denied += n
			default:
				s.failed += n
			}
		}
	}
	return s, nil
}
