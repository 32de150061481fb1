package results_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/controllers/plan"
	"github.com/loadtest-dev/loadtest-operator/loadworker/measure"
)

func TestGeneratorHealth(t *testing.T) {
	tests := map[string]struct {
		step     plan.Step
		samples  int
		lateness time.Duration
		response time.Duration
		want     *v1alpha1.GeneratorStatus
	}{
		"on time": {
			step: paced, samples: 1000, lateness: 100 * time.Microsecond, response: 20 * ms,
			want: &v1alpha1.GeneratorStatus{Healthy: true, SendLatenessP99: d(100 * time.Microsecond)},
		},
		"late, but it hardly shows": {
			step: paced, samples: 1000, lateness: 31 * ms, response: time.Second,
			want: &v1alpha1.GeneratorStatus{Healthy: true, SendLatenessP99: d(31007 * time.Microsecond)},
		},
		"so late that it shows": {
			step: paced, samples: 1000, lateness: 31 * ms, response: 500 * ms,
			want: &v1alpha1.GeneratorStatus{
				SendLatenessP99: d(31007 * time.Microsecond),
				Message:         "Step 1000 sent requests up to 31ms (p99) after they were due by the generator's own fault; use 6 workers or more, or give each more CPU.",
			},
		},
		"late, and nothing was answered": {
			step: paced, samples: 1000, lateness: 12 * ms,
			want: &v1alpha1.GeneratorStatus{
				SendLatenessP99: d(12007 * time.Microsecond),
				Message:         "Step 1000 sent requests up to 12ms (p99) after they were due by the generator's own fault; use 6 workers or more, or give each more CPU.",
			},
		},
		"within what is always tolerated": {
			step: paced, samples: 1000, lateness: 9900 * time.Microsecond, response: ms,
			want: &v1alpha1.GeneratorStatus{Healthy: true, SendLatenessP99: d(9903 * time.Microsecond)},
		},
		"too few samples to say": {
			step: paced, samples: 99, lateness: time.Second, response: ms,
			want: &v1alpha1.GeneratorStatus{Healthy: true},
		},
		"a closed loop has no schedule to miss": {
			step: closed, samples: 1000, lateness: time.Second, response: ms,
			want: &v1alpha1.GeneratorStatus{Healthy: true, SendLatenessP99: d(1000447 * time.Microsecond)},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			spec := mix()
			workers := int32(3)
			spec.Parallelism = &workers
			merged := measure.NewStep(4)
			for range tc.samples {
				merged.Lateness.Record(tc.lateness)
				if tc.response > 0 {
					merged.Requests[0].Response.Record(tc.response)
				}
			}
			if diff := cmp.Diff(tc.want, stepResult(t, spec, tc.step, merged).Generator); diff != "" {
				t.Errorf("generator (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheAdviceStaysWithinTheAPI(t *testing.T) {
	spec := mix()
	workers := int32(800)
	spec.Parallelism = &workers
	merged := measure.NewStep(4)
	for range 100 {
		merged.Lateness.Record(time.Second)
	}
	want := "Step 1000 sent requests up to 1s (p99) after they were due by the generator's own fault; use 1000 workers or more, or give each more CPU."
	if got := stepResult(t, spec, paced, merged).Generator.Message; got != want {
		t.Errorf("message %q, want %q", got, want)
	}
}
