package coordinator

import (
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/protobuf/proto"
	clocktesting "k8s.io/utils/clock/testing"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/measure/wire"
)

// cpu is the processor time that this process used so far: on a shared machine
// the time that passed says less.
func cpu(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkSecond is what 1000 workers cost the coordinator in each second of a
// step, apart from the transport: each worker's message is unmarshalled,
// validated and stored, and all of them are merged once. The garbage of it is
// collected within the measured time.
func BenchmarkSecond(b *testing.B) {
	const workers = 1000
	for _, bench := range []struct {
		name     string
		requests int
	}{{"1e2", 100}, {"1e3", 1_000}, {"1e4", 10_000}} {
		b.Run(bench.name, func(b *testing.B) {
			c := New(tokens{&sync.Map{}}, clocktesting.NewFakeClock(noon), func(RunID) {}, prometheus.NewRegistry())
			c.Direct("a", running("a", workers, 0))
			r := c.runs["a"]
			messages, size := make([][]byte, workers), 0
			for i := range messages {
				var err error
				if messages[i], err = proto.Marshal(snapshot(b, 0, int64(i), false, bench.requests)); err != nil {
					b.Fatal(err)
				}
				size += len(messages[i])
			}
			sequence, receiving := int64(workers), time.Duration(0)
			runtime.GC()
			before := cpu(b)
			for b.Loop() {
				begin := cpu(b)
				for i, message := range messages {
					m := &workerv1.Snapshot{}
					if err := proto.Unmarshal(message, m); err != nil {
						b.Fatal(err)
					}
					reading, err := wire.Read(m.GetMeasurement(), 1)
					if err != nil {
						b.Fatal(err)
					}
					sequence++
					m.Sequence = sequence
					if why, ok := r.store(&session{identity: Identity{Worker: int32(i)}}, m, measured{Reading: reading}, noon); !ok {
						b.Fatal(why)
					}
				}
				receiving += cpu(b) - begin
				if got := sent(c.Observe("a")); got != int64(workers*bench.requests) {
					b.Fatalf("sent: %d", got)
				}
			}
			all := cpu(b) - before
			perSecond := func(d time.Duration) float64 { return d.Seconds() * 1000 / float64(b.N) }
			b.ReportMetric(perSecond(all), "cpu-ms/second")
			b.ReportMetric(perSecond(receiving), "receive-ms/second")
			b.ReportMetric(perSecond(all-receiving), "merge-ms/second")
			b.ReportMetric(float64(size)/workers, "B/message")
		})
	}
}
