package verdict_test

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
)

func TestLatencies(t *testing.T) {
	judgeOne(t, map[string]oneStep{
		"quantile kept": {
			atMost("p95", "500ms"), sent(50, 50), passed, "20.015ms",
			"p95 is 20.015ms in step burst; at most 500ms is allowed.",
		},
		"quantile breached": {
			atMost("p95", "20ms"), sent(50, 50), broken, "20.015ms",
			"p95 is 20.015ms in step burst; at most 20ms is allowed.",
		},
		"quantile of one request": {
			v1beta1.Threshold{Metric: "p50", Requests: []string{"create"}, Max: ptr(intstr.Parse("0.5s"))}, sent(50, 50), passed, "10.007ms",
			"p50 of create is 10.007ms in step burst; at most 0.5s is allowed.",
		},
		"quantile with too few samples": {
			atMost("p99", "500ms"), sent(20, 10), inconclusive, "",
			"p99 of step burst has 30 samples; at least 100 are needed.",
		},
		"quantile of one request with too few samples": {
			v1beta1.Threshold{Metric: "p99", Requests: []string{"follow"}, Max: ptr(intstr.Parse("500ms"))}, sent(100, 99), inconclusive, "",
			"p99 of follow in step burst has 99 samples; at least 100 are needed.",
		},
		"median needs two":          {atMost("p50", "1s"), sent(1, 0), inconclusive, "", "p50 of step burst has 1 samples; at least 2 are needed."},
		"p99.9 needs a thousand":    {atMost("p99.9", "1s"), sent(999, 0), inconclusive, "", "p99.9 of step burst has 999 samples; at least 1000 are needed."},
		"p99.9 has a thousand":      {atMost("p99.9", "1s"), sent(1000, 0), passed, "10.007ms", "p99.9 is 10.007ms in step burst; at most 1s is allowed."},
		"p99.99 needs ten thousand": {atMost("p99.99", "1s"), sent(9999, 0), inconclusive, "", "p99.99 of step burst has 9999 samples; at least 10000 are needed."},
		"p99.99 has ten thousand":   {atMost("p99.99", "1s"), sent(10000, 0), passed, "10.007ms", "p99.99 is 10.007ms in step burst; at most 1s is allowed."},
		"maximum kept":              {atMost("longest", "1s"), sent(1, 0), passed, "10.007ms", "longest is 10.007ms in step burst; at most 1s is allowed."},
		"mean kept":                 {atMost("mean", "1s"), sent(1, 0), passed, "10.004ms", "mean is 10.004ms in step burst; at most 1s is allowed."},
		"maximum needs one":         {atMost("longest", "10ms"), sent(1, 0), broken, "10.007ms", "longest is 10.007ms in step burst; at most 10ms is allowed."},
		"mean":                      {atMost("mean", "15ms"), sent(50, 50), broken, "15.006ms", "mean is 15.006ms in step burst; at most 15ms is allowed. The slowest request is follow, with 20.008ms."},
		"seconds":                   {atMost("longest", "1s"), sent(1, 0, slow(1, 2500*ms)), broken, "2.500607s", "longest is 2.500607s in step burst; at most 1s is allowed."},
		"a whole second":            {atMost("mean", "999ms"), sent(0, 0, slow(1, 1999*ms), slow(1, 639*time.Microsecond)), broken, "1s", "mean is 1s in step burst; at most 999ms is allowed."},
		"microseconds":              {atMost("p50", "500us"), sent(0, 0, slow(2, 697*time.Microsecond)), broken, "697us", "p50 is 697us in step burst; at most 500us is allowed."},
		"a whole millisecond":       {atMost("longest", "999us"), sent(0, 0, slow(1, ms)), broken, "1ms", "longest is 1ms in step burst; at most 999us is allowed."},
		"equal to a bound in seconds": {
			atLeast("longest", "2.500607s"), sent(0, 0, slow(1, 2500*ms)), passed, "2.500607s",
			"longest is 2.500607s in step burst; at least 2.500607s is required.",
		},
		"a target may be too fast":   {atLeast("p50", "1s"), sent(5, 0), broken, "10.007ms", "p50 is 10.007ms in step burst; at least 1s is required."},
		"equal to the bound is kept": {atMost("p50", "10.007ms"), sent(5, 0), passed, "10.007ms", "p50 is 10.007ms in step burst; at most 10.007ms is allowed."},

		// What has no response time must not make the target look fast.
		"unanswered requests beyond the quantile": {
			atMost("p95", "500ms"), sent(1000, 0, unfinished(50)), passed, "10.007ms",
			"p95 is 10.007ms in step burst; at most 500ms is allowed.",
		},
		"unanswered requests up to the quantile": {
			atMost("p95", "500ms"), sent(1000, 0, unfinished(53)), inconclusive, "10.007ms",
			"p95 of step burst leaves out 53 requests that had no answer when the step was cut.",
		},
		"unanswered requests just beyond the quantile": {
			atMost("p95", "500ms"), sent(95, 0, unfinished(5)), passed, "10.007ms",
			"p95 is 10.007ms in step burst; at most 500ms is allowed.",
		},
		"unanswered requests that shift the quantile below the bound": {
			atMost("p50", "500ms"), sent(60, 0, slow(40, time.Second), unfinished(5)), passed, "10.007ms",
			"p50 is 10.007ms in step burst; at most 500ms is allowed.",
		},
		"unanswered requests make no target too fast": {
			atLeast("p50", "5ms"), sent(9, 0, unfinished(20)), passed, "10.007ms",
			"p50 is 10.007ms in step burst; at least 5ms is required.",
		},
		"unanswered requests that shift the quantile over the bound": {
			atMost("p90", "500ms"), sent(950, 0, slow(50, time.Second), unfinished(60)), inconclusive, "10.007ms",
			"p90 of step burst leaves out 60 requests that had no answer when the step was cut.",
		},
		"unanswered requests that shift the quantile to the maximum": {
			atMost("p90", "500ms"), sent(899, 0, slow(1, time.Second), unfinished(100)), inconclusive, "10.007ms",
			"p90 of step burst leaves out 100 requests that had no answer when the step was cut.",
		},
		"unanswered requests and a maximum": {
			atMost("longest", "500ms"), sent(9, 0, unfinished(1)), inconclusive, "10.007ms",
			"longest of step burst leaves out 1 requests that had no answer when the step was cut.",
		},
		"unanswered requests and a breach all the same": {
			atMost("p50", "5ms"), sent(9, 0, unfinished(1)), broken, "10.007ms",
			"p50 is 10.007ms in step burst; at most 5ms is allowed.",
		},
		"nothing was answered": {
			atMost("longest", "500ms"), sent(0, 0, unfinished(4)), inconclusive, "",
			"longest of step burst has 0 samples; at least 1 are needed.",
		},
	})
}
