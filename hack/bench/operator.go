package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/hack/bench/process"
	"github.com/loadtest-dev/loadtest-operator/hack/bench/simulated"
)

const (
	// stepsAlone is how many steps the run has that is measured alone.
	stepsAlone = 50
	// operatorPatience is how long it may all take.
	operatorPatience = 20 * time.Minute

	maxOperatorRSS = 200 // MB
	maxStoreRate   = 50  // KB per second and run
)

// operatorMethod says what is measured.
const operatorMethod = `A real kube-apiserver and etcd, and the operator as a process of its own, share the
machine with what simulates the workers: two for each run, with sessions over TLS and tokens
that are bound to their pods. They report three steps, of 1,000 users and more, and send
nothing. A step begins when its last worker does. A worker begins by its own clock, at an
instant that the operator chose: what the operator adds to the skew is how late the choice
came, and nothing if it came before the instant, as it did by the margin of the table. The
workers wake up in a process of their own, each on a thread that sleeps until the instant
and has real-time priority: it gets a processor at once, as on a node of its own, although
the server, the operator and the sessions share the two of this machine. The run that is
alone has 50 steps of a second: the p99 of three would be a lower quantile. What is written
is the size of the whole object at each change, as a watch sees it. The finished LoadTests
are 250 KB each.

`

// benchOperator measures the operator's process with many finished LoadTests and many
// that run at once, with real sessions of simulated workers.
func benchOperator(ctx context.Context, b *bench) (last string, err error) {
	ctx, cancel := context.WithTimeout(ctx, operatorPatience)
	defer cancel()
	waker, err := simulated.StartWaker(ctx, b.path("waker"))
	if err != nil {
		return "", err
	}
	defer func() { _ = waker.Stop() }()
	server, err := simulated.StartServer(ctx, b.root, b.work)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	fmt.Fprintf(b.log, "creating %d finished LoadTests\n", b.finished)
	if err := simulated.Finish(ctx, server.Client, b.finished); err != nil {
		return "", err
	}
	if err := simulated.Allow(ctx, server.Client, b.running); err != nil {
		return "", err
	}
	began := time.Now()
	o, err := b.startOperator(ctx, server)
	if err != nil {
		return "", err
	}
	defer o.process.Kill()
	if _, err := o.hasReadAll(ctx); err != nil {
		return "", err
	}
	ready := time.Since(began)
	kubelet, err := simulated.StartKubelet(ctx, server.Client, waker)
	if err != nil {
		return "", err
	}
	if o.writes, err = simulated.WatchWrites(ctx, server.Client); err != nil {
		return "", err
	}
	defer func() { cancel(); _, errs := kubelet.Wait(); err = errors.Join(append(errs, err)...) }()

	alone, err := o.measure(ctx, b, kubelet, "alone", 1, stepsAlone, time.Second)
	if err != nil {
		return "", err
	}
	together, err := o.measure(ctx, b, kubelet, "together", b.running, 3, b.length(10*time.Second))
	if err != nil {
		return "", err
	}
	rss := o.process.PeakRSS() >> 20
	fmt.Fprint(b.out, operatorMethod)
	fmt.Fprintf(b.out, "| runs at once | KB/s of status and results per run | writes per run | passes per run | pass p50 ms | pass p99 ms | choice known ms ahead, least | choice p99 ms late | start p50 ms late | start p99 ms late |\n|---|---|---|---|---|---|---|---|---|---|\n%s%s\n", alone, together)
	fmt.Fprintf(b.out, "Peak resident memory of the operator: %d MB, with %d finished LoadTests of 20 steps, and of processor time %.1f s in %.0f s with %d runs. It had looked at all of them %.0f s after its start.\n",
		rss, b.finished, together.cpu.Seconds(), together.took.Seconds(), b.running, ready.Seconds())
	last = fmt.Sprintf("bench-operator: finished=%d running=%d rss-mb=%d etcd-kb-per-s-per-run=%.1f reconcile-p99-ms=%.0f start-skew-p99-ms=%.2f start-skew-p99-ms-of-one-run=%.2f start-skew-of-operator-p99-ms=%.1f reconciles-per-run=%.0f",
		b.finished, b.running, rss, together.rate, together.passP99, together.startP99, alone.startP99, together.choiceP99, together.passes)
	if rss > maxOperatorRSS || together.rate > maxStoreRate {
		return last, fmt.Errorf("%s: want at most %d MB and %d KB per second and run", last, maxOperatorRSS, maxStoreRate)
	}
	if together.choiceP99 > alone.choiceP99 {
		return last, fmt.Errorf("%s: the operator adds %.1f ms to the skew of many runs, and %.1f ms to that of one", last, together.choiceP99, alone.choiceP99)
	}
	return last, nil
}

// operator is the operator under test.
type operator struct {
	process *process.Process
	metrics string // URL
	probe   string // URL of its readiness
	client  client.Client
	writes  *simulated.Writes
	read    *line // it has read all LoadTests
}

// hasReadAll waits until the operator has read and looked at all LoadTests, and returns when it had
// read them.
func (o *operator) hasReadAll(ctx context.Context) (time.Time, error) {
	read, err := o.read.within(ctx)
	if err != nil {
		return read, err
	}
	_, err = settled(ctx, o.metrics)
	return read, err
}

func (b *bench) startOperator(ctx context.Context, server *simulated.Server) (*operator, error) {
	if err := b.compile(ctx, "manager", "./cmd", "build"); err != nil {
		return nil, err
	}
	var ports [3]string
	for i := range ports {
		port, err := freePort()
		if err != nil {
			return nil, err
		}
		ports[i] = fmt.Sprintf("127.0.0.1:%d", port)
	}
	read := newLine(b.log, "All LoadTests have been read")
	p, err := process.Start(process.Command{
		Path: b.path("manager"), Core: process.Anywhere, Stdin: strings.NewReader(""), Stdout: b.log, Stderr: read,
		Env: []string{"KUBECONFIG=" + server.Kubeconfig},
		Args: []string{
			"--coordinator-bind-address=" + ports[0], "--coordinator-advertise=" + ports[0], "--metrics-bind-address=" + ports[1], "--metrics-secure=false", "--check-targets=false",
			"--health-probe-bind-address=" + ports[2], "--worker-image=simulated", "--namespace=" + simulated.OperatorNamespace,
		},
	})
	if err != nil {
		return nil, err
	}
	return &operator{
		process: p, client: server.Client, metrics: "http://" + ports[1] + "/metrics", probe: "http://" + ports[2] + "/readyz", read: read,
	}, nil
}

// load is what a number of runs cost, each.
type load struct {
	runs               int
	rate               float64 // KB per second
	writes, passes     float64
	passP50, passP99   float64 // ms
	startP50, startP99 float64 // ms
	choiceP99, ahead   float64 // ms
	cpu, took          time.Duration
}

func (l load) String() string {
	return fmt.Sprintf("| %d | %.1f | %.1f | %.1f | %.1f | %.0f | %.0f | %.1f | %.2f | %.2f |\n",
		l.runs, l.rate, l.writes, l.passes, l.passP50, l.passP99, l.ahead, l.choiceP99, l.startP50, l.startP99)
}

// measure lets that many LoadTests run at once, each with so many rungs that are so long.
func (o *operator) measure(ctx context.Context, b *bench, kubelet *simulated.Kubelet, name string, n, rungs int, length time.Duration) (load, error) {
	l := load{runs: n}
	before, err := settled(ctx, o.metrics)
	if err != nil {
		return l, err
	}
	cpu, err := o.process.CPU()
	if err != nil {
		return l, err
	}
	fmt.Fprintf(b.log, "%d LoadTests run\n", n)
	began := time.Now()
	names, err := simulated.Begin(ctx, o.client, name, n, rungs, length)
	if err != nil {
		return l, err
	}
	tests, err := simulated.Await(ctx, o.client, names)
	if err != nil {
		return l, err
	}
	l.took = time.Since(began)
	after, err := readPasses(ctx, o.metrics)
	if err != nil {
		return l, err
	}
	spent, err := o.process.CPU()
	if err != nil {
		return l, err
	}
	l.cpu = spent - cpu
	if err := allPassed(tests); err != nil {
		return l, err
	}
	starts, errs := kubelet.Take()
	if err := errors.Join(errs...); err != nil {
		return l, err
	}
	var lasted time.Duration
	for i := range tests {
		lasted += tests[i].Status.CompletionTime.Sub(tests[i].Status.StartTime.Time)
	}
	bytes, writes, err := o.writes.Of(name)
	if err != nil {
		return l, err
	}
	l.rate, l.writes = float64(bytes)/1000/lasted.Seconds(), float64(writes)/float64(n)
	passes := after.since(before)
	l.passes, l.passP50, l.passP99 = passes.count/float64(n), passes.quantile(0.5), passes.quantile(0.99)
	l.startP50, l.startP99 = skews(starts, simulated.Start.Lateness)
	_, l.choiceP99 = skews(starts, simulated.Start.ByOperator)
	least := slices.MinFunc(starts, func(a, b simulated.Start) int { return cmp.Compare(a.Ahead, b.Ahead) })
	l.ahead = float64(least.Ahead) / float64(time.Millisecond)
	return l, nil
}

func allPassed(tests []v1beta1.LoadTest) error {
	for i := range tests {
		if s := &tests[i].Status; s.Verdict != v1beta1.VerdictPassed {
			return fmt.Errorf("LoadTest %s: verdict %s, want Passed: %+v", tests[i].Name, s.Verdict, s.Conditions)
		}
	}
	return nil
}

// skews are the median and the 99th percentile, over all steps of all runs, of how late
// the last worker was, in ms.
func skews(starts []simulated.Start, late func(simulated.Start) time.Duration) (p50, p99 float64) {
	type step struct {
		run   string
		index int32
	}
	last := map[step]time.Duration{}
	for _, s := range starts {
		key := step{s.Run, s.Step}
		last[key] = max(last[key], late(s))
	}
	all := slices.Sorted(maps.Values(last))
	at := func(q float64) float64 {
		if len(all) == 0 {
			return 0
		}
		return float64(all[min(len(all)-1, int(q*float64(len(all))))]) / float64(time.Millisecond)
	}
	return at(0.5), at(0.99)
}
