package simulated

import (
	"testing"

	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

func TestHistogramOfAFinishedLoadTestHasAllRequests(t *testing.T) {
	encoded, err := histogramOf(1000)
	must.Succeed(t, err)
	h, err := measure.DecodeHistogram(encoded, 0)
	must.Succeed(t, err)
	if n := h.Count(); n != 1000 {
		t.Errorf("%d response times, want 1000", n)
	}
}
