package metric_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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
	of := func(ms time.Duration) *v1beta1.StreamsResult {
		return &v1beta1.StreamsResult{FirstEvent: &v1beta1.EventTimes{P95: &metav1.Duration{Duration: ms * time.Millisecond}}}
	}
	r := &v1beta1.StepResult{Streams: of(40), Requests: []v1beta1.RequestResult{{Name: "chat", PartResult: v1beta1.PartResult{Streams: of(30)}}, {Name: "home"}}}
	for q, want := range map[metric.Quantity]string{
		{Metric: "p95", Time: "FirstEvent"}:                  "40ms",
		{Metric: "p95", Time: "FirstEvent", Request: "chat"}: "30ms",
		{Metric: "p95", Time: "FirstEvent", Request: "home"}: "",
		{Metric: "p95", Time: "FirstEvent", Request: "gone"}: "",
		{Metric: "p99", Time: "FirstEvent"}:                  "",
		{Metric: "p90", Time: "FirstEvent"}:                  "",
		{Metric: "p95", Time: "MeanGap"}:                     "",
	} {
		got := ""
		if v := metric.Value(q, r); v != nil {
			got = metric.Text(q.Metric, v)
		}
		if got != want {
			t.Errorf("%+v is %q, want %q", q, got, want)
		}
	}
	for _, name := range []v1beta1.LatencyTime{"", v1beta1.ResponseTime, v1beta1.ServiceTime} {
		if _, ok := metric.StreamTimeOf(name); ok || name.IsOfStreams() {
			t.Errorf("%q is a time of streams", name)
		}
	}
}
