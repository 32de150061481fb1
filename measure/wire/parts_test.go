package wire

import (
	"testing"
	"unsafe"

	"github.com/loadtest-dev/loadtest-operator/measure"
)

// Ideal times travel where they are others than the measured ones, and are a worker's own then.
func TestIdealTimesTravelWhereTheyDiffer(t *testing.T) {
	measured, ideal := measure.NewHistogram(), measure.NewHistogram()
	measured.Record(2000)
	ideal.Record(1000)
	for name, tc := range map[string]struct {
		ideal *measure.Histogram
		sent  bool
	}{"none": {nil, false}, "the measured ones": {measured, false}, "others": {ideal, true}} {
		if got := (*packing)(nil).fromIdeal(tc.ideal, measured); (got != nil) != tc.sent {
			t.Errorf("%s: sent as %v", name, got)
		}
	}
	if got := (*packing)(nil).fromHistogram(measure.NewHistogram()); got != nil {
		t.Errorf("no times are sent as %v", got)
	}
	if none, one := fromTraces(nil), fromTraces(measure.Traces{{}}); none != nil || len(one.GetOutcomes()) != 1 {
		t.Errorf("no trace is sent as %v, and one as %v", none, one)
	}
	for name, tc := range map[string]struct {
		of   histogram
		want bool
	}{"none": {histogram{}, false}, "some": {histogram{total: 1}, true}, "the measured ones": {histogram{total: 1, borrowed: true}, false}} {
		if got := tc.of.isOwn(); got != tc.want {
			t.Errorf("%s: own: %t", name, got)
		}
	}
}

// A reading counts all requests, and takes as many bytes as its parts.
func TestReadingOfSeveralRequests(t *testing.T) {
	r := &Reading{rest: measure.Measurement{Requests: make([]measure.Request, 2)}}
	r.rest.Requests[0].Sent, r.rest.Requests[1].Sent = 3, 4
	if got := r.Sent(); got != 7 {
		t.Errorf("%d sent, want 7", got)
	}
	two := r.Size()
	r.rest.Requests = r.rest.Requests[:1]
	one := r.Size()
	if r.rest.Requests = nil; two != 2*one || r.Size() != 0 {
		t.Errorf("two requests take %d bytes, one %d, none %d", two, one, r.Size())
	}
	r.rest.Journeys = make([]measure.Journey, 2)
	journeys := r.Size()
	if r.rest.Journeys = r.rest.Journeys[:1]; journeys != 2*r.Size() || r.Size() == 0 {
		t.Errorf("two journeys take %d bytes, one %d", journeys, r.Size())
	}
	r.rest.Requests, r.histograms = make([]measure.Request, 1), make([]histogram, 1)
	r.counted.counts.counts = make([]byte, 100)
	if all := int(unsafe.Sizeof(histogram{})) + one + journeys/2 + 100; r.Size() != all {
		t.Errorf("all together take %d bytes, want %d", r.Size(), all)
	}
	if _, err := Read(nil, 0); err == nil || err.Error() != "missing" {
		t.Errorf("no measurement: %v", err)
	}
}
