package simulated

import (
	"testing"

	"github.com/loadtest-dev/loadtest-operator/measure"
)

func TestHistogramOfAFinishedLoadTestHasAllRequests(t *testing.T) {
	encoded, err := histogramOf(1000)
	if err != nil {
		t.Fatal(err)
	}
	h, err := measure.DecodeHistogram(encoded, 0)
	if err != nil {
		t.Fatal(err)
	}
	if n := h.Count(); n != 1000 {
		t.Errorf("%d response times, want 1000", n)
	}
}
