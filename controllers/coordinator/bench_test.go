package coordinator

import (
	"syscall"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	clocktesting "k8s.io/utils/clock/testing"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/measure/wire"
)

// cpu is what this process used so far, in milliseconds: on a shared machine the
// time that passed says less.
func cpu(b *testing.B) float64 {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e6
}

// BenchmarkSecond is what 1000 workers cost in each second of a step, apart from
// gRPC: each one's snapshot is validated and taken, and all are merged once.
func BenchmarkSecond(b *testing.B) {
	const workers = 1000
	for _, bench := range []struct {
		name     string
		requests int
	}{{"1e2", 100}, {"1e3", 1_000}, {"1e4", 10_000}} {
		c := New(tokens{}, clocktesting.NewFakeClock(noon), func(RunID) {}, prometheus.NewRegistry())
		c.Direct("a", running("a", workers, 0))
		r := c.runs["a"]
		messages := make([]*workerv1.Snapshot, workers)
		for i := range messages {
			messages[i] = snapshot(b, 0, int64(i), false, bench.requests)
		}
		var sequence int64
		take := func(b *testing.B) {
			sequence++
			for i, m := range messages {
				reading, err := wire.Read(m.GetMeasurement(), 1)
				if err != nil {
					b.Fatal(err)
				}
				m.Sequence = sequence
				if why, ok := r.take(&session{identity: Identity{Worker: int32(i)}}, m, reading, noon); !ok {
					b.Fatal(why)
				}
			}
		}
		b.Run("take/"+bench.name, func(b *testing.B) {
			before := cpu(b)
			for b.Loop() {
				take(b)
			}
			b.ReportMetric((cpu(b)-before)/float64(b.N), "cpu-ms/op")
		})
		take(b)
		b.Run("observe/"+bench.name, func(b *testing.B) {
			before := cpu(b)
			for b.Loop() {
				r.version++
				if got := sent(c.Observe("a")); got != int64(workers*bench.requests) {
					b.Fatalf("sent: %d", got)
				}
			}
			b.ReportMetric((cpu(b)-before)/float64(b.N), "cpu-ms/op")
		})
	}
}
