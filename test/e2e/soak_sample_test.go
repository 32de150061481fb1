//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	corev1 "k8s.io/api/core/v1"

	"github.com/loadtest-dev/loadtest-operator/test/e2e/soak"
)

// sampleWith measures the process that leads: which one it is, how many collections of
// garbage it has had, and what it holds.
func sampleWith(ctx context.Context) (process string, cycles int, s soak.Sample, err error) {
	pod, err := leader(ctx)
	if err != nil {
		return "", 0, s, err
	}
	pids, err := processes(pod)
	if err != nil {
		return "", 0, s, err
	}
	folder := "/proc/" + strconv.Itoa(pids[0])
	// The kernel chooses other addresses for each program that is started, be it in the
	// same process.
	vector, err := os.ReadFile(folder + "/auxv")
	if err != nil {
		return "", 0, s, err
	}
	open, err := os.ReadDir(folder + "/fd")
	if err != nil {
		return "", 0, s, err
	}
	values, err := scrape(ctx, pod)
	if err != nil {
		return "", 0, s, err
	}
	for _, v := range []struct {
		name string
		into func(float64)
	}{
		{"go_goroutines", func(n float64) { s.Goroutines = int(n) }},
		{"loadtest_coordinator_sessions", func(n float64) { s.Sessions = int(n) }},
		{"process_resident_memory_bytes", func(n float64) { s.Resident = int64(n) }},
		{"go_gc_heap_live_bytes", func(n float64) { s.Live = int64(n) }},
		{"go_gc_cycles_total_gc_cycles_total", func(n float64) { cycles = int(n) }},
	} {
		n, ok := values[v.name]
		if !ok {
			return "", 0, s, fmt.Errorf("%s has no %s", pod.Name, v.name)
		}
		v.into(n)
	}
	s.Descriptors = len(open)
	return fmt.Sprintf("%s %x", pod.Name, sha256.Sum256(vector))[:len(pod.Name)+9], cycles, s, nil
}

// scrape reads the metrics of a replica that have no labels.
func scrape(ctx context.Context, pod *corev1.Pod) (map[string]float64, error) {
	url := "http://" + net.JoinHostPort(pod.Status.PodIP, "8080") + "/metrics"
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	var body bytes.Buffer
	if _, err := body.ReadFrom(response.Body); err != nil || response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s, %w", url, response.Status, err)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(&body)
	if err != nil {
		return nil, err
	}
	values := map[string]float64{}
	for name, family := range families {
		if all := family.GetMetric(); len(all) == 1 {
			// One of them is there, and the others are 0.
			values[name] = all[0].GetGauge().GetValue() + all[0].GetCounter().GetValue() + all[0].GetUntyped().GetValue()
		}
	}
	return values, nil
}
