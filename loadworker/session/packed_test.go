package session

import (
	"testing"
	"time"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// A coordinator that does not say that it reads packed histograms would leave them out; a final
// snapshot may be sent again to such a one.
func TestHistogramsArePackedOnlyForACoordinatorThatReadsThem(t *testing.T) {
	step := measure.NewMeasurement(1)
	for i := range 100 {
		step.Lateness.Record(time.Duration(i) * time.Microsecond)
	}
	w := &worker{clock: newClock(time.Now()), assignment: &workerv1.Assignment{}}
	arePacked := func(final bool) bool {
		m, err := w.encode(step, final)
		must.Succeed(t, err)
		return len(m.GetLateness().GetPacked()) > 0
	}
	answer := func(packed bool) {
		w.onClockReply(&workerv1.ClockReply{ProbeSentUnixNanos: w.clock.encode(time.Now()), NowUnixNanos: 1, Packed: packed}, time.Now())
	}
	for _, stage := range []struct {
		name string
		do   func()
		want bool
	}{
		{"before the first answer", func() { w.onConnected(newOutbox()) }, false},
		{"after one of a coordinator of the version before", func() { answer(false) }, false},
		{"after one of a coordinator that reads them", func() { answer(true) }, true},
		{"on another stream", func() { w.onConnected(newOutbox()) }, false},
	} {
		if stage.do(); arePacked(false) != stage.want || arePacked(true) {
			t.Errorf("%s: packed: %t, want %t; the final ones: %t, want false", stage.name, arePacked(false), stage.want, arePacked(true))
		}
	}
}
