//go:build e2e

package runs

import (
	"bufio"
	"bytes"
	"encoding/json"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// ended is the line that a worker logs when a step has ended: a copy of what it
// measured, which did not travel through coordinator and status.
type ended struct {
	Msg       string `json:"msg"`
	Step      int    `json:"step"`
	Sent      int64  `json:"sent"`
	Histogram string `json:"histogram"`
}

// checkPooled compares each step's result with the workers' own copies pooled:
// the same counts, and the same quantile at every rank that the status tells.
func checkPooled(t *testing.T, namespace string, lt *v1beta1.LoadTest) {
	t.Helper()
	sent, pooled := workerCopies(t, namespace)
	for i, step := range lt.Status.Steps {
		if step.Result == nil {
			continue
		}
		merged, err := measure.DecodeHistogram(step.Result.Histogram, 0)
		if err != nil {
			t.Fatalf("step %s: %v", step.Name, err)
		}
		pool := pooled[i]
		if pool == nil || sent[i] != step.Result.Sent || pool.Count() != merged.Count() {
			t.Errorf("step %s: the workers' logs tell of %d sent, the status of %d", step.Name, sent[i], step.Result.Sent)
			continue
		}
		for _, q := range []float64{0.5, 0.75, 0.9, 0.95, 0.99, 0.999} {
			got, ok := merged.Quantile(q)
			want, wantOK := pool.Quantile(q)
			if got != want || ok != wantOK {
				t.Errorf("step %s: quantile %v is %v (%v) merged and %v (%v) pooled", step.Name, q, got, ok, want, wantOK)
			}
		}
	}
}

func workerCopies(t *testing.T, namespace string) (sent map[int]int64, pooled map[int]*measure.Histogram) {
	t.Helper()
	sent, pooled = map[int]int64{}, map[int]*measure.Histogram{}
	var pods corev1.PodList
	must.Succeed(t, cluster.API.List(t.Context(), &pods, client.InNamespace(namespace), client.HasLabels{"loadtest.dev/run"}))
	for _, pod := range pods.Items {
		text, err := cluster.Clientset.CoreV1().Pods(namespace).GetLogs(pod.Name, &corev1.PodLogOptions{}).DoRaw(t.Context())
		if err != nil {
			t.Fatalf("read the log of %s: %v", pod.Name, err)
		}
		lines := bufio.NewScanner(bytes.NewReader(text))
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			var e ended
			if json.Unmarshal(lines.Bytes(), &e) != nil || e.Msg != "step ended" {
				continue
			}
			h, err := measure.DecodeHistogram(e.Histogram, 0)
			if err != nil {
				t.Fatalf("%s, step %d: %v", pod.Name, e.Step, err)
			}
			sent[e.Step] += e.Sent
			if pooled[e.Step] == nil {
				pooled[e.Step] = measure.NewHistogram()
			}
			must.Succeed(t, pooled[e.Step].Merge(h))
		}
	}
	return sent, pooled
}
