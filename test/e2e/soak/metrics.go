package soak

import (
	"fmt"
	"io"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// Metrics are the values of a page of metrics by their names, and by name{value} where they
// have one label.
func Metrics(page io.Reader) (map[string]float64, error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(page)
	if err != nil {
		return nil, err
	}
	values := map[string]float64{}
	for name, family := range families {
		for _, m := range family.GetMetric() {
			key := name
			if labels := m.GetLabel(); len(labels) == 1 {
				key += "{" + labels[0].GetValue() + "}"
			} else if len(labels) > 1 {
				continue
			}
			// One of them is there, and the others are 0.
			values[key] = m.GetGauge().GetValue() + m.GetCounter().GetValue() + m.GetUntyped().GetValue()
		}
	}
	return values, nil
}

// SampleOf is what the operator's metrics say that it holds, and how many collections of
// garbage it has had. The process and its descriptors are in no metric.
func SampleOf(values map[string]float64) (now Sample, collections int, err error) {
	for _, v := range []struct {
		name string
		into func(float64)
	}{
		{"go_goroutines", func(n float64) { now.Goroutines = int(n) }},
		{"loadtest_coordinator_sessions", func(n float64) { now.Sessions = int(n) }},
		{"process_resident_memory_bytes", func(n float64) { now.Resident = int64(n) }},
		{"go_gc_heap_live_bytes", func(n float64) { now.Live = int64(n) }},
		{"go_gc_cycles_total_gc_cycles_total", func(n float64) { collections = int(n) }},
	} {
		n, ok := values[v.name]
		if !ok {
			return now, 0, fmt.Errorf("there is no metric %s", v.name)
		}
		v.into(n)
	}
	return now, collections, nil
}
