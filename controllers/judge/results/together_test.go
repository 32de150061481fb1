package results_test

import (
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// Of each time, as many requests may have waited as four times those that were late.
func TestHowLateRequestsCameTogether(t *testing.T) {
	const late = 90047 * time.Microsecond // as the histogram has 90 ms
	for name, tc := range map[string]struct {
		late int64 // of 1,000, by 90 ms
		want *v1beta1.Latency
	}{
		"two in a thousand": {2, &v1beta1.Latency{P50: d(0), P75: d(0), P90: d(0), P95: d(0), P99: d(0), Mean: d(720 * time.Microsecond)}},
		"three":             {3, &v1beta1.Latency{P50: d(0), P75: d(0), P90: d(0), P95: d(0), P99: d(late), Mean: d(1080 * time.Microsecond)}},
		"one in eight":      {126, &v1beta1.Latency{P50: d(late), P75: d(late), P90: d(late), P95: d(late), P99: d(late), Mean: d(45368 * time.Microsecond)}},
	} {
		merged := measure.NewMeasurement(4)
		merged.Lateness.RecordN(0, 1000-tc.late)
		merged.Lateness.RecordN(90*ms, tc.late)
		tc.want.Samples, tc.want.P999, tc.want.P9999, tc.want.Longest = 1000, d(late), d(late), d(late)
		same.As(t, name, tc.want, stepResult(t, mix(), closed, merged).LateTogether)
	}
}
