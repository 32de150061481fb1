package verdict_test

import (
	"fmt"
	"testing"
	"time"
)

func unansweredIn(what string, n int) string {
	return fmt.Sprintf("%s leaves out %d requests that had no answer when the step was cut.", what, n)
}

func TestLatencies(t *testing.T) {
	judgeOne(t, map[string]oneStep{
		"quantile kept":                 {atMost("p95", "500ms"), sent(50, 50), passed, "20.015ms", ""},
		"quantile breached":             {atMost("p95", "20ms"), sent(50, 50), broken, "20.015ms", ""},
		"quantile of one request":       {onRequest(atMost("p50", "0.5s"), "create"), sent(50, 50), passed, "10.007ms", ""},
		"quantile with too few samples": {atMost("p99", "500ms"), sent(20, 10), inconclusive, "", "p99 of step burst has 30 samples; at least 100 are needed."},
		"quantile of one request with too few samples": {onRequest(atMost("p99", "500ms"), "follow"), sent(100, 99), inconclusive, "",
			"p99 of follow in step burst has 99 samples; at least 100 are needed."},
		"median needs two":            {atMost("p50", "1s"), sent(1, 0), inconclusive, "", "p50 of step burst has 1 samples; at least 2 are needed."},
		"p99.9 needs a thousand":      {atMost("p99.9", "1s"), sent(999, 0), inconclusive, "", "p99.9 of step burst has 999 samples; at least 1000 are needed."},
		"p97 needs 34":                {atMost("p97", "1ms"), sent(33, 0), inconclusive, "", "p97 of step burst has 33 samples; at least 34 are needed."},
		"p99.9 has a thousand":        {atMost("p99.9", "1s"), sent(1000, 0), passed, "10.007ms", ""},
		"p99.99 needs ten thousand":   {atMost("p99.99", "1s"), sent(9999, 0), inconclusive, "", "p99.99 of step burst has 9999 samples; at least 10000 are needed."},
		"p99.99 has ten thousand":     {atMost("p99.99", "1s"), sent(10000, 0), passed, "10.007ms", ""},
		"maximum kept":                {atMost("longest", "1s"), sent(1, 0), passed, "10.007ms", ""},
		"mean kept":                   {atMost("mean", "1s"), sent(1, 0), passed, "10.004ms", ""},
		"maximum needs one":           {atMost("longest", "10ms"), sent(1, 0), broken, "10.007ms", ""},
		"mean":                        {atMost("mean", "15ms"), sent(50, 50), broken, "15.006ms", " The slowest request is follow, with 20.008ms."},
		"seconds":                     {atMost("longest", "1s"), sent(1, 0, slow(1, 2500*ms)), broken, "2.500607s", ""},
		"a whole second":              {atMost("mean", "999ms"), sent(0, 0, slow(1, 1999*ms), slow(1, 639*time.Microsecond)), broken, "1s", ""},
		"microseconds":                {atMost("p50", "500us"), sent(0, 0, slow(2, 697*time.Microsecond)), broken, "697us", ""},
		"a whole millisecond":         {atMost("longest", "999us"), sent(0, 0, slow(1, ms)), broken, "1ms", ""},
		"equal to a bound in seconds": {atLeast("longest", "2.500607s"), sent(0, 0, slow(1, 2500*ms)), passed, "2.500607s", ""},
		"a target may be too fast":    {atLeast("p50", "1s"), sent(5, 0), broken, "10.007ms", ""},
		"equal to the bound is kept":  {atMost("p50", "10.007ms"), sent(5, 0), passed, "10.007ms", ""},

		// What has no response time must not make the target look fast.
		"unanswered requests beyond the quantile":                     {atMost("p95", "500ms"), sent(1000, 0, unfinished(50)), passed, "10.007ms", ""},
		"unanswered requests up to the quantile":                      {atMost("p95", "500ms"), sent(1000, 0, unfinished(53)), inconclusive, "10.007ms", unansweredIn("p95 of step burst", 53)},
		"unanswered requests just beyond the quantile":                {atMost("p95", "500ms"), sent(95, 0, unfinished(5)), passed, "10.007ms", ""},
		"unanswered requests that shift the quantile below the bound": {atMost("p50", "500ms"), sent(60, 0, slow(40, time.Second), unfinished(5)), passed, "10.007ms", ""},
		"unanswered requests make no target too fast":                 {atLeast("p50", "5ms"), sent(9, 0, unfinished(20)), passed, "10.007ms", ""},
		"unanswered requests that shift the quantile over the bound": {
			atMost("p90", "500ms"), sent(950, 0, slow(50, time.Second), unfinished(60)), inconclusive, "10.007ms",
			unansweredIn("p90 of step burst", 60),
		},
		"unanswered requests that shift the quantile to the maximum": {
			atMost("p90", "500ms"), sent(899, 0, slow(1, time.Second), unfinished(100)), inconclusive, "10.007ms",
			unansweredIn("p90 of step burst", 100),
		},
		"unanswered requests and a maximum":             {atMost("longest", "500ms"), sent(9, 0, unfinished(1)), inconclusive, "10.007ms", unansweredIn("longest of step burst", 1)},
		"unanswered requests and a breach all the same": {atMost("p50", "5ms"), sent(9, 0, unfinished(1)), broken, "10.007ms", ""},
		"nothing was answered":                          {atMost("longest", "500ms"), sent(0, 0, unfinished(4)), inconclusive, "", "longest of step burst has 0 samples; at least 1 are needed."},
	})
}
