package runmetrics_test

import (
	"math"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"

	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// responseTimes is the histogram of a step in which requests took those times.
func responseTimes(t *testing.T, times ...time.Duration) *dto.Histogram {
	t.Helper()
	m := measure.NewMeasurement(1)
	for _, d := range times {
		m.Requests[0].Response.Record(d)
	}
	o := newOperator(t, running("a"))
	o.live["uid-of-a"] = &exchange.Report{Merged: m}
	families, err := o.registry.Gather()
	must.Succeed(t, err)
	for _, f := range families {
		if f.GetName() == "loadtest_response_time_seconds" {
			return f.Metric[0].Histogram
		}
	}
	t.Fatal("there is no histogram")
	return nil
}

func TestClassicBucketsCountUpToTheirBounds(t *testing.T) {
	h := responseTimes(t, 0, 500*time.Microsecond, 501*time.Microsecond, 5*time.Millisecond, 5100*time.Microsecond, 30*time.Second, time.Minute)
	want := map[float64]uint64{0.0005: 2, 0.001: 3, 0.0025: 3, 0.005: 4, 0.01: 5, 10: 5, 30: 6}
	for _, b := range h.Bucket {
		if n, ok := want[b.GetUpperBound()]; ok && n != b.GetCumulativeCount() {
			t.Errorf("%v s or less: %d, want %d", b.GetUpperBound(), b.GetCumulativeCount(), n)
		}
		delete(want, b.GetUpperBound())
	}
	if len(want) > 0 || h.GetSampleCount() != 7 {
		t.Errorf("%d samples, and no buckets %v", h.GetSampleCount(), want)
	}
}

// nativeCounts are the counts of the native buckets by their upper bound.
func nativeCounts(h *dto.Histogram) map[float64]int64 {
	counts := map[float64]int64{}
	width := math.Exp2(math.Exp2(-float64(h.GetSchema())))
	var index int32
	var n int64
	next := 0
	for _, span := range h.PositiveSpan {
		index += span.GetOffset()
		for range span.GetLength() {
			n += h.PositiveDelta[next]
			counts[math.Pow(width, float64(index))] += n
			next++
			index++
		}
	}
	return counts
}

func TestNativeBucketsHoldTheirTimes(t *testing.T) {
	for _, d := range []time.Duration{time.Microsecond, 7 * time.Microsecond, time.Millisecond, 41 * time.Millisecond, time.Second, 1001 * time.Millisecond, time.Hour} {
		h := responseTimes(t, d, d)
		var found int64
		for upper, n := range nativeCounts(h) {
			if n == 0 {
				continue
			}
			found += n
			// The histogram of the workers tells times apart by 0.1 %.
			if s := d.Seconds(); s > upper*1.001 || s < upper/1.0906 {
				t.Errorf("%s is in the bucket up to %v s", d, upper)
			}
		}
		if found != 2 || h.GetZeroCount() != 0 {
			t.Errorf("%s twice: %d in buckets, %d are zero", d, found, h.GetZeroCount())
		}
	}
}

func TestNativeBucketsCountWhatClassicOnesDo(t *testing.T) {
	h := responseTimes(t, 0, time.Microsecond, time.Millisecond, 3*time.Millisecond, 3*time.Millisecond, time.Minute)
	sum := int64(h.GetZeroCount())
	for _, n := range nativeCounts(h) {
		sum += n
	}
	if sum != 6 || h.GetZeroCount() != 1 || h.GetSampleCount() != 6 {
		t.Errorf("%d in native buckets, %d of them zero, %d in all; want 6, 1, 6", sum, h.GetZeroCount(), h.GetSampleCount())
	}
}

func TestHistogramWithoutSamplesIsNativeToo(t *testing.T) {
	// By one of both Prometheus takes it for one.
	if h := responseTimes(t); h.Schema == nil || h.GetZeroThreshold() == 0 && len(h.PositiveSpan) == 0 {
		t.Errorf("no sign of native buckets: %v", h)
	}
}
