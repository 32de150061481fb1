package cluster

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

	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// Served is what the replicas of the rate limiter say they decided.
type Served struct{ Granted, Denied, Failed int64 }

// Plus is the sum of two.
func (s Served) Plus(o Served) Served {
	return Served{s.Granted + o.Granted, s.Denied + o.Denied, s.Failed + o.Failed}
}

// Less is the difference of two.
func (s Served) Less(o Served) Served {
	return Served{s.Granted - o.Granted, s.Denied - o.Denied, s.Failed - o.Failed}
}

// Total is how many decisions there are.
func (s Served) Total() int64 { return s.Granted + s.Denied + s.Failed }

// Ask reads the counters of every replica, each from its own pod.
func Ask(t *testing.T, namespace string) Served {
	t.Helper()
	var pods corev1.PodList
	must.Succeed(t, API.List(t.Context(), &pods, client.InNamespace(namespace), client.MatchingLabels{"app.kubernetes.io/component": "app"}))
	if len(pods.Items) == 0 {
		t.Fatal("the rate limiter has no pods")
	}
	var sum Served
	for _, pod := range pods.Items {
		if n := Restarts(pod); n > 0 {
			t.Fatalf("pod %s was restarted %d times: its count is lost", pod.Name, n)
		}
		s, err := AskPod(t.Context(), namespace, pod.Name)
		must.Succeed(t, err)
		t.Logf("%s on %s: granted %d, denied %d, failed %d", pod.Name, pod.Spec.NodeName, s.Granted, s.Denied, s.Failed)
		sum = sum.Plus(s)
	}
	return sum
}

// Restarts is how often the containers of a pod were started again.
func Restarts(pod corev1.Pod) (n int32) {
	for _, c := range pod.Status.ContainerStatuses {
		n += c.RestartCount
	}
	return n
}

// MetricsOf reads the metrics of a pod of a target.
func MetricsOf(ctx context.Context, namespace, pod string) (map[string]*dto.MetricFamily, error) {
	text, err := Clientset.CoreV1().Pods(namespace).ProxyGet("http", pod, "8080", "/metrics", nil).DoRaw(ctx)
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

// AskPod reads the counters of one replica.
func AskPod(ctx context.Context, namespace, pod string) (Served, error) {
	families, err := MetricsOf(ctx, namespace, pod)
	if err != nil {
		return Served{}, err
	}
	family, ok := families["ratelimiter_requests_total"]
	if !ok {
		return Served{}, fmt.Errorf("%s has no ratelimiter_requests_total", pod)
	}
	var s Served
	for _, m := range family.GetMetric() {
		n := int64(m.GetCounter().GetValue())
		for _, l := range m.GetLabel() {
			switch {
			case l.GetName() != "decision":
			case l.GetValue() == "granted":
				s.Granted += n
			case l.GetValue() == "denied":
				s.Denied += n
			default:
				s.Failed += n
			}
		}
	}
	return s, nil
}
