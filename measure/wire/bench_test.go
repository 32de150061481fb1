package wire

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/measure"
)

// workerStep is a step of one request as a worker measures it: n requests with
// log-normal latency around 20 ms.
func workerStep(rng *rand.Rand, n int) *measure.Step {
	s := measure.NewStep(1)
	r := &s.Requests[0]
	for range n {
		d := time.Duration(math.Exp(rng.NormFloat64()) * float64(20*time.Millisecond))
		r.Response.Record(d)
		r.Service.Record(d)
		s.Lateness.Record(time.Duration(rng.ExpFloat64() * float64(50*time.Microsecond)))
	}
	r.Sent, r.Expected, r.Outcomes[measure.Success] = int64(n), int64(n), int64(n)
	s.Due = int64(n)
	s.FirstStart = time.Unix(1_700_000_000, 0).UTC()
	s.LastStart = s.FirstStart
	return s
}

func BenchmarkRead(b *testing.B) {
	for _, bench := range []struct {
		name string
		n    int
	}{{"1e3", 1_000}, {"1e4", 10_000}, {"1e5", 100_000}} {
		b.Run(bench.name, func(b *testing.B) {
			m, err := FromStep(workerStep(rand.New(rand.NewPCG(1, 2)), bench.n))
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Read(m, 1); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(m.GetRequests()[0].GetResponse().GetEncoded())), "B/histogram")
		})
	}
}

// BenchmarkMerge merges 1000 workers, as happens once a second.
func BenchmarkMerge(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	readings := make([]*Reading, 1000)
	for i := range readings {
		m, err := FromStep(workerStep(rng, 10_000))
		if err != nil {
			b.Fatal(err)
		}
		if readings[i], err = Read(m, 1); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		if _, err := Merge(1, readings...); err != nil {
			b.Fatal(err)
		}
	}
}
