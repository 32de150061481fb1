package coordinator

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/protobuf/proto"
	clocktesting "k8s.io/utils/clock/testing"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/measure/wire"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// cpu is the processor time that this process used so far: on a shared machine
// the time that passed says less.
func cpu(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	must.Succeed(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// load is what each of 1000 workers reports: so many values of so many requests.
type load struct {
	requests, values int
	// ledgers says that it is the last report of an audited step, with as many ledgers
	// as a worker may send.
	ledgers bool
	// ideal says that each sends, beside them, the times without the generator's own delay,
	// as it does while a step runs if a threshold aborts.
	ideal bool
}

const benchWorkers = 1000

// BenchmarkSecond is what 1000 workers cost the coordinator in each second of a
// step, apart from the transport: each worker's message is unmarshalled,
// validated and stored, and all of them are merged once. The garbage of it is
// collected within the measured time. With ledgers it is the last second.
func BenchmarkSecond(b *testing.B) {
	for name, l := range map[string]load{
		"1e2": {requests: 1, values: 100}, "1e3": {requests: 1, values: 1_000}, "1e4": {requests: 1, values: 10_000},
		"1e4+ideal": {requests: 1, values: 10_000, ideal: true},
		"32x312":    {requests: 32, values: 312}, "32x312+ledgers": {requests: 32, values: 312, ledgers: true}, "32x312+ideal": {requests: 32, values: 312, ideal: true},
	} {
		b.Run(name, l.bench)
	}
}

func (l load) bench(b *testing.B) {
	messages, size := make([][]byte, benchWorkers), 0
	for i := range messages {
		var err error
		messages[i], err = proto.Marshal(l.snapshot(b, i))
		must.Succeed(b, err)
		size += len(messages[i])
	}
	receiving, all, seconds := time.Duration(0), time.Duration(0), int64(0)
	c := l.coordinator(b, messages)
	runtime.GC()
	for b.Loop() {
		if l.ledgers && seconds > 0 {
			c = l.coordinator(b, messages) // a step has one last second
		}
		seconds++
		begin := cpu(b)
		l.receive(b, c, messages, seconds)
		receiving += cpu(b) - begin
		if got := sent(c.Observe("a")); got != int64(benchWorkers*l.values) {
			b.Fatalf("sent: %d", got)
		}
		all += cpu(b) - begin
	}
	perSecond := func(d time.Duration) float64 { return d.Seconds() * 1000 / float64(seconds) }
	b.ReportMetric(perSecond(all), "cpu-ms/second")
	b.ReportMetric(perSecond(receiving), "receive-ms/second")
	b.ReportMetric(perSecond(all-receiving), "merge-ms/second")
	b.ReportMetric(float64(size)/benchWorkers, "B/message")
}

// coordinator has received a second of the step.
func (l load) coordinator(b *testing.B, messages [][]byte) *Coordinator {
	b.Helper()
	c := New(tokens{&sync.Map{}}, clocktesting.NewFakeClock(noon), func(RunID) {}, prometheus.NewRegistry())
	c.Direct("a", l.directive())
	l.receive(b, c, messages, 0)
	return c
}

// receive has a coordinator take the messages of all workers, for the round-th time.
func (l load) receive(b *testing.B, c *Coordinator, messages [][]byte, round int64) {
	b.Helper()
	r := c.runs["a"]
	for i, message := range messages {
		m := &workerv1.Snapshot{}
		must.Succeed(b, proto.Unmarshal(message, m))
		m.Sequence = round + 1
		if m.Final = l.ledgers && round > 0; !m.Final {
			m.Measurement.Clients = nil
		}
		read, err := readMeasurement(m, r.directive.Assignments[i])
		must.Succeed(b, err)
		if why, ok := r.store(&session{identity: Identity{Worker: int32(i)}}, m, read, noon); !ok {
			b.Fatal(why)
		}
		if m.Final {
			c.foldFinals(r)
		}
	}
}

func (l load) directive() exchange.Directive {
	d := audited(benchWorkers, 0)
	for _, a := range d.Assignments {
		for len(a.Requests) < l.requests {
			a.Requests = append(a.Requests, a.Requests[0])
		}
		a.Groups = l.groups()
	}
	return d
}

// groups are those of requests that no threshold tells apart, for a step that runs.
func (l load) groups() []int32 {
	if l.requests == 1 || l.ledgers {
		return nil
	}
	return make([]int32, l.requests)
}

func (l load) snapshot(b *testing.B, worker int) *workerv1.Snapshot {
	b.Helper()
	rng := rand.New(rand.NewPCG(uint64(worker), 1))
	m := measure.NewMeasurement(l.requests)
	for i := range m.Requests {
		r := &m.Requests[i]
		n := int64(l.values)
		r.Sent, r.Expected, r.CompletedInWindow, r.ExpectedInWindow = n, n, n, n
		r.Outcomes[measure.Success] = n
		r.CountStatus(200, n)
		if l.ideal {
			r.Ideal = measure.NewHistogram()
		}
		for range l.values {
			d := time.Duration(math.Exp(rng.NormFloat64()) * float64(20*time.Millisecond))
			r.Response.Record(d)
			r.Service.Record(d / 2)
			if l.ideal {
				r.Ideal.Record(d * 9 / 10)
			}
			m.Lateness.Record(d / 1000)
		}
	}
	m.Due, m.Window = int64(l.requests*l.values), time.Second
	if l.ledgers {
		m.Clients = l.clients(worker)
	}
	encoded, err := wire.EncodeGroups(m, l.groups(), !l.ledgers) // which come with the last snapshot
	must.Succeed(b, err)
	return &workerv1.Snapshot{Measurement: encoded}
}

// clients are more than there is room for, half of them those of the other workers too.
func (l load) clients(worker int) *measure.Clients {
	clients := measure.NewClients(measure.LedgerShare(benchWorkers))
	for i := range l.requests * l.values {
		name := fmt.Sprint("client ", i%100)
		if i%2 == 0 {
			name = fmt.Sprintf("client %d of %d", i%100, worker)
		}
		at := time.Duration(i) * time.Millisecond
		if ledger := clients.Sent([]byte(name), i/100%measure.MaxSlices, at); ledger != nil {
			ledger.Resolve(i/100%measure.MaxSlices, at+time.Millisecond, measure.Success)
		}
	}
	return clients
}
