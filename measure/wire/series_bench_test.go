package wire

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// BenchmarkSeries is what the operator does with the series of one of many workers: it
// validates it and adds it to the sum.
func BenchmarkSeries(b *testing.B) {
	for name, window := range map[string]time.Duration{"30s": 30 * time.Second, "600s": 10 * time.Minute} {
		b.Run(name, func(b *testing.B) {
			m := seconds(b, window, 100)
			var sum Series
			for b.Loop() {
				read, err := ReadSeries(m, window)
				must.Succeed(b, err)
				sum.Add(read)
			}
			b.ReportMetric(float64(proto.Size(m.Series)), "B/worker")
			b.ReportMetric(float64(sum.Size()), "B/sum")
		})
	}
}

// seconds is a measurement of so many requests in each second of a window.
func seconds(tb testing.TB, window time.Duration, rate int64) *workerv1.StepMeasurement {
	tb.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	all := measure.NewSeries(window)
	whole := measure.NewMeasurement(1)
	r := &whole.Requests[0]
	for i := range all.Points[:len(all.Points)-1] {
		p := &all.Points[i]
		p.Due, p.Sent, p.Expected, p.Outcomes[measure.Success] = rate, rate, rate, rate
		for range rate {
			took := time.Duration(math.Exp(rng.NormFloat64()) * float64(20*time.Millisecond))
			p.Times[measure.TimeSlot(took)]++
			p.Longest = max(p.Longest, took)
		}
		whole.Due, r.Sent, r.Expected, r.Outcomes[measure.Success] = whole.Due+rate, r.Sent+rate, r.Expected+rate, r.Outcomes[measure.Success]+rate
	}
	m, err := Encode(whole)
	must.Succeed(tb, err)
	m.Series = EncodeSeries(all)
	return m
}
