package report

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
)

// columnWidth is that of a distribution.
const columnWidth = 34

func (p *page) latency(response, service *v1alpha1.Latency) {
	if service == nil {
		service = &v1alpha1.Latency{}
	}
	p.row("Latency", "%-*s%s", columnWidth, "response time (from when due)", "service time (from when sent)")
	for _, q := range []struct {
		name string
		of   func(*v1alpha1.Latency) *metav1.Duration
	}{
		{"min", func(l *v1alpha1.Latency) *metav1.Duration { return l.Min }},
		{"mean", func(l *v1alpha1.Latency) *metav1.Duration { return l.Mean }},
		{"p50", func(l *v1alpha1.Latency) *metav1.Duration { return l.P50 }},
		{"p75", func(l *v1alpha1.Latency) *metav1.Duration { return l.P75 }},
		{"p90", func(l *v1alpha1.Latency) *metav1.Duration { return l.P90 }},
		{"p95", func(l *v1alpha1.Latency) *metav1.Duration { return l.P95 }},
		{"p99", func(l *v1alpha1.Latency) *metav1.Duration { return l.P99 }},
		{"p99.9", func(l *v1alpha1.Latency) *metav1.Duration { return l.P999 }},
		{"p99.99", func(l *v1alpha1.Latency) *metav1.Duration { return l.P9999 }},
		{"longest", func(l *v1alpha1.Latency) *metav1.Duration { return l.Longest }},
	} {
		p.row("  "+q.name, "%-*s%s", columnWidth, precise(q.of(response)), precise(q.of(service)))
	}
}

// precise is a time with all digits that a histogram of microseconds has. All
// of a kind have their point in one column.
func precise(d *metav1.Duration) string {
	switch t, ok := duration(d); {
	case !ok:
		return "too few samples"
	case t < time.Second:
		return fmt.Sprintf("%7.3fms", float64(t)/float64(time.Millisecond))
	default:
		return fmt.Sprintf("%7.3fs", t.Seconds())
	}
}
