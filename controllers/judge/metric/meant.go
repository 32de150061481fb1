package metric

import (
	"strings"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// elsewhere are names that other tools have for a metric, in lower case and without signs
// between their words.
var elsewhere = map[string]v1alpha1.Metric{
	"apdex": v1alpha1.MetricOnTimeRate,
	"avg":   v1alpha1.MetricMean, "average": v1alpha1.MetricMean,
	"error": v1alpha1.MetricFailureRate, "errors": v1alpha1.MetricFailureRate, "errorrate": v1alpha1.MetricFailureRate,
	"errorratio": v1alpha1.MetricFailureRate, "failures": v1alpha1.MetricFailureRate, "httpreqfailed": v1alpha1.MetricFailureRate,
	"successrate": v1alpha1.MetricFailureRate, "availability": v1alpha1.MetricDowntime, "uptime": v1alpha1.MetricDowntime,
	"httpreqduration": "p95", "latency": "p95", "responsetime": "p95", "duration": "p95", "median": "p50",
	"max": v1alpha1.MetricLongest, "maximum": v1alpha1.MetricLongest,
	"rps": v1alpha1.MetricGoodput, "tps": v1alpha1.MetricGoodput, "rate": v1alpha1.MetricGoodput, "requestspersecond": v1alpha1.MetricGoodput,
}

var withoutSigns = strings.NewReplacer("_", "", "-", "", " ", "", ".", "")

// Meant is the metric that a name which is none may mean: that of another tool, or the one
// that is spelled most alike; "" if there is none.
func Meant(name string) v1alpha1.Metric {
	if meant, ok := elsewhere[withoutSigns.Replace(strings.ToLower(name))]; ok {
		return meant
	}
	names := make([]string, len(table))
	for i := range table {
		names[i] = string(table[i].Name)
	}
	return v1alpha1.Metric(text.MostAlike(name, names))
}
