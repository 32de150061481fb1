package metric_test

import (
	"testing"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/metric"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

func TestEveryTimeOfStreamsIsKnownByItsName(t *testing.T) {
	names := [measure.NumStreamTimes]v1beta1.LatencyTime{"FirstEvent", "BetweenEvents", "LongestGap", "MeanGap"}
	for of, name := range names {
		got, ok := metric.StreamTimeOf(name)
		if !ok || got.Name != name || int(got.Measured) != of || !name.IsOfStreams() || metric.StreamTimes()[of].Name != name {
			t.Errorf("%s is %+v", name, got)
		}
		s := &v1beta1.StreamsResult{}
		*got.Field(s) = &v1beta1.EventTimes{Samples: 1}
		if all := []*v1beta1.EventTimes{s.FirstEvent, s.BetweenEvents, s.LongestGap, s.MeanGap}; all[of] == nil {
			t.Errorf("%s is in the result at another place: %+v", name, s)
		}
	}
	for _, name := range []v1beta1.LatencyTime{"", v1beta1.ResponseTime, v1beta1.ServiceTime} {
		if _, ok := metric.StreamTimeOf(name); ok || name.IsOfStreams() {
			t.Errorf("%q is a time of streams", name)
		}
	}
}
