package configuration

import (
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics say which configuration is in force. A nil *Metrics says nothing.
type Metrics struct {
	valid, hash, since prometheus.Gauge
}

// NewMetrics registers the metrics.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	gauge := func(name, help string) prometheus.Gauge {
		return prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
	}
	m := &Metrics{
		valid: gauge("loadtest_config_valid", "1 if the most recently read configuration is valid, else 0; the last valid one stays in force."),
		hash:  gauge("loadtest_config_hash", "48 bits of a hash of the last valid configuration, to compare replicas and points in time."),
		since: gauge("loadtest_config_valid_timestamp_seconds", "When the last valid configuration was read."),
	}
	reg.MustRegister(m.valid, m.hash, m.since)
	return m
}

// took notes what was read.
func (m *Metrics) took(data map[string]string, valid bool, now time.Time) {
	if m == nil {
		return
	}
	if !valid {
		m.valid.Set(0)
		return
	}
	m.valid.Set(1)
	m.hash.Set(hashOf(data))
	m.since.Set(float64(now.UnixMilli()) / 1000)
}

// hashOf is a hash that a float holds exactly.
func hashOf(data map[string]string) float64 {
	h := sha256.New()
	for _, key := range slices.Sorted(maps.Keys(data)) {
		h.Write([]byte(key + "\x00" + data[key] + "\x00"))
	}
	return float64(binary.BigEndian.Uint64(h.Sum(nil)) >> 16)
}
