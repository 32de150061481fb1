package metric

import "testing"

func TestMeantMetric(t *testing.T) {
	for name, want := range map[string]string{
		"errorRate": "failureRate", "http_req_failed": "failureRate", "avg": "mean", "requests-per-second": "goodput",
		"failurerate": "failureRate", "godput": "goodput", "p 95": "p95", "cpu": "",
	} {
		if got := Meant(name); string(got) != want {
			t.Errorf("%q means %q, want %q", name, got, want)
		}
	}
}

// What another tool's name stands for is a metric.
func TestMeantMetricsExist(t *testing.T) {
	for name, meant := range elsewhere {
		if Of(meant).Name != meant {
			t.Errorf("%s means %s, which is no metric", name, meant)
		}
	}
}
