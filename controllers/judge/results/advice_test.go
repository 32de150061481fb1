package results_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/results"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// machine is a simulated generator, whose truth is known: each worker takes cost for
// each request, and the target answers in latency.
type machine struct {
	cost, latency time.Duration
}

// send is the measurement of a step with so many arrivals a second.
func (m machine) send(rate int64, window time.Duration, workers int64) *measure.Measurement {
	sum := measure.NewMeasurement(4)
	sum.Window = window
	sum.Due = rate * int64(window) / int64(time.Second)
	r := &sum.Requests[0]
	free := make([]time.Duration, workers)
	for i := range sum.Due {
		due := time.Duration(i) * time.Second / time.Duration(rate)
		w := i % workers
		start := max(due, free[w])
		if start >= window {
			sum.Unsent++
			continue
		}
		free[w] = start + m.cost
		sum.Lateness.Record(start - due)
		r.Response.Record(start - due + m.cost + m.latency)
		r.Sent++
	}
	return sum
}

// advised is the number of workers in a sentence.
func advised(t *testing.T, message string) int64 {
	t.Helper()
	_, after, found := strings.Cut(message, " use ")
	number, _, _ := strings.Cut(after, " ")
	n, err := strconv.ParseInt(number, 10, 64)
	if !found || err != nil {
		t.Fatalf("no number of workers in %q", message)
	}
	return n
}

// With as many workers as are advised, the generator is not the limit.
func TestAdviceIsEnough(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	unhealthy := 0
	for range 300 {
		m := machine{cost: time.Duration(20+rng.IntN(2000)) * time.Microsecond, latency: time.Duration(rng.IntN(200)) * time.Millisecond}
		rate, workers := 50+rng.Int64N(5000), 1+rng.Int64N(4)
		window := time.Duration(1+rng.IntN(3)) * time.Second
		step := loading("steady", v1beta1.StepLoad{Rate: decimal(fmt.Sprint(rate)), Duration: d(window), Requests: rate * int64(window) / int64(time.Second)})
		judge := func(workers int64) *v1beta1.GeneratorStatus {
			return stepResult(t, fleetOf(int32(workers)), step, m.send(rate, window, workers)).Generator
		}
		got := judge(workers)
		if got.Healthy {
			continue
		}
		unhealthy++
		n := advised(t, got.Message)
		if again := judge(n); !again.Healthy {
			t.Errorf("%+v, %d/s, %d workers: %s\nwith %d: %s", m, rate, workers, got.Message, n, again.Message)
		}
	}
	if unhealthy < 50 {
		t.Errorf("the generator was the limit in %d of 300 runs: this tests little", unhealthy)
	}
}

// A worker that sent 12.7 % needs seven more: 8 x 12.7 % are enough, 7 are not. Three workers that were late
// and sent a quarter of what was due need nine more, and no run has more than 1000.
func TestAdviceFollowsFromWhatEachWorkerSent(t *testing.T) {
	arrivals := loading("1000/s", v1beta1.StepLoad{Rate: decimal("1000"), Duration: d(time.Second), Requests: 1000})
	for _, tc := range []struct {
		step         *v1beta1.StepStatus
		workers      int32
		due, unsent  int64
		late, advice int64 // by a second
	}{
		{arrivals, 1, 1000, 873, 0, 8},
		{arrivals, 2, 1000, 873, 0, 16},
		{arrivals, 4, 1000, 500, 0, 8},
		{arrivals, 4, 1000, 10, 0, 5},
		{arrivals, 600, 1000, 900, 0, 1000},
		{paced, 3, 1000, 750, 250, 12},
		{paced, 800, 0, 0, 100, 1000},
	} {
		merged := measure.NewMeasurement(4)
		merged.Due, merged.Unsent, merged.Window = tc.due, tc.unsent, 2*time.Second
		merged.Lateness.RecordN(time.Second, tc.late)
		got := stepResult(t, fleetOf(tc.workers), tc.step, merged).Generator
		if want := fmt.Sprintf("; use %d workers or more, or give each more CPU.", tc.advice); !strings.HasSuffix(got.Message, want) {
			t.Errorf("%d workers left %d of %d unsent, and were late %d times: %q, want %q", tc.workers, tc.unsent, tc.due, tc.late, got.Message, want)
		}
	}
}

// More workers would make a busy node busier.
func TestBusyNodeIsToldFromTooFewWorkers(t *testing.T) {
	arrivals := loading("1000/s", v1beta1.StepLoad{Rate: decimal("1000"), Duration: d(time.Second), Requests: 1000})
	for name, tc := range map[string]struct {
		waited, longest time.Duration
		reason, wait    string
	}{
		"nothing waited":       {0, 0, v1beta1.ReasonScheduleLag, ""},
		"hardly":               {100 * ms, 100 * ms, v1beta1.ReasonScheduleLag, "3.33%"},
		"one of the workers":   {101 * ms, 101 * ms, v1beta1.ReasonNodeBusy, "3.37%"},
		"each of them, hardly": {300 * ms, 100 * ms, v1beta1.ReasonScheduleLag, "10%"},
	} {
		t.Run(name, func(t *testing.T) {
			merged := measure.NewMeasurement(4)
			merged.Due, merged.Unsent, merged.Window = 1000, 200, time.Second
			merged.Health = measure.Health{RunQueueWait: tc.waited, RunQueueWaitMax: tc.longest}
			got := stepResult(t, fleetOf(3), arrivals, merged).Generator
			if got.Healthy || got.Reason != tc.reason || got.RunQueueWait != tc.wait {
				t.Errorf("%s, waited %q: %q; want %s, %q", got.Reason, got.RunQueueWait, got.Message, tc.reason, tc.wait)
			}
			if busy := tc.reason == v1beta1.ReasonNodeBusy; busy != strings.Contains(got.Message, "do not help") || busy == strings.Contains(got.Message, "use 4 workers") {
				t.Errorf("the sentence is %q", got.Message)
			}
		})
	}
	// A generator that kept its schedule was not the limit, however busy its node was.
	merged := measure.NewMeasurement(4)
	merged.Due, merged.Window, merged.Health = 1000, time.Second, measure.Health{RunQueueWait: time.Second, RunQueueWaitMax: time.Second}
	if got := stepResult(t, fleetOf(3), arrivals, merged).Generator; !got.Healthy {
		t.Errorf("a schedule that was kept: %q", got.Message)
	}
}

// Of what hindered a worker, the cause is named that explains the delay, and the one that
// explains most of it. It has no number if another one explains as much.
func TestCauseThatExplainsMost(t *testing.T) {
	const (
		limit   = "a worker was held back by its CPU limit for "
		busy    = "because its node is busy. Request CPU for the workers (spec.worker.resources.requests.cpu"
		stopped = "a worker stood still for "
		more    = "; use 4 workers or more, or give each more CPU."
	)
	for name, tc := range map[string]struct {
		health measure.Health
		want   []string
	}{
		"held back a little, and waited for long":   {measure.Health{CPU: 9 * time.Second, CPUThrottledMax: 720 * ms, RunQueueWaitMax: 90 * time.Second}, []string{busy + ": 1550m)"}},
		"held back, and so all its threads waited":  {measure.Health{CPU: 9 * time.Second, CPUThrottledMax: 30 * time.Second, RunQueueWaitMax: 120 * time.Second, StalledMax: 30 * time.Second}, []string{limit + "50% of the time", "limits.cpu to 100m,"}},
		"held back, and waited for as long besides": {measure.Health{CPU: 9 * time.Second, CPUThrottledMax: 10 * time.Second, RunQueueWaitMax: 49 * time.Second}, []string{limit, "limits.cpu, or leave it out."}},
		"waited, and was held back nearly as long":  {measure.Health{CPU: 9 * time.Second, CPUThrottledMax: 10 * time.Second, RunQueueWaitMax: 51 * time.Second}, []string{busy + ")"}},
		"waited, and so it stood still":             {measure.Health{CPU: 9 * time.Second, RunQueueWaitMax: 8 * time.Second, StalledMax: 8 * time.Second}, []string{busy + ": 200m)"}},
		"stopped for less than a tenth of the time": {measure.Health{StalledMax: 4 * time.Second}, []string{stopped + "4s,"}},
		"held back, and waited for half as long":    {measure.Health{CPU: 9 * time.Second, CPUThrottledMax: 30 * time.Second, RunQueueWaitMax: 135 * time.Second}, []string{limit, "limits.cpu to 100m,"}},
		"held back, and waited for more than half":  {measure.Health{CPU: 9 * time.Second, CPUThrottledMax: 30 * time.Second, RunQueueWaitMax: 136 * time.Second}, []string{limit, "limits.cpu, or leave it out."}},
		"stopped for longer than it waited":         {measure.Health{RunQueueWaitMax: 7 * time.Second, StalledMax: 20 * time.Second}, []string{stopped + "20s,"}},
		"stopped for half of what is to explain":    {measure.Health{StalledMax: 1500 * ms}, []string{stopped + "1.5s,"}},
		"stopped for less":                          {measure.Health{StalledMax: 1499 * ms}, []string{more}},
		"held back for less than half of it":        {measure.Health{CPUThrottledMax: 1499 * ms}, []string{more}},
	} {
		t.Run(name, func(t *testing.T) {
			m := measure.NewMeasurement(4)
			m.Window, m.Due, m.Health = time.Minute, 60_000, tc.health
			m.Requests[0].Sent, m.Requests[0].Displaced = 60_000, 3_000 // as of 3 s in which nothing was sent
			m.Lateness.RecordN(3*time.Second, 3_000)
			got := stepResult(t, fleetOf(3), loading("1000/s", v1beta1.StepLoad{Rate: decimal("1000"), Duration: d(time.Minute), Requests: 60_000}), m).Generator
			for _, want := range tc.want {
				if !got.LoadDisplaced || got.SendLatenessP99 == nil || !strings.Contains(got.Message, want) {
					t.Errorf("displaced %v, late by %v: %q, want %q", got.LoadDisplaced, got.SendLatenessP99, got.Message, want)
				}
			}
		})
	}
}

// A delay that decides a threshold has a cause, however short it was.
func TestDelayHasACause(t *testing.T) {
	const cpu = "; give each worker more CPU, or run it on a less busy node."
	for name, tc := range map[string]struct {
		sent, read      time.Duration
		health          measure.Health
		reason, message string
	}{
		"none":                   {0, 0, measure.Health{}, "", ""},
		"a stop":                 {0, 549 * ms, measure.Health{StalledMax: 549 * ms}, v1beta1.ReasonNodeBusy, "In step 1000 a worker stood still for 549ms, because it was stopped or its node is busy. Run it again, and keep other load off the workers' nodes; more workers on the same nodes do not help."},
		"a stop that is shorter": {0, 549 * ms, measure.Health{StalledMax: 100 * ms}, v1beta1.ReasonReadLag, "In step 1000 responses were read up to 549ms after they had arrived" + cpu},
		"a garbage collector":    {20 * ms, 40 * ms, measure.Health{GCPauseMax: 40 * ms}, v1beta1.ReasonScheduleLag, "In step 1000 the garbage collector of a worker stopped it for 40ms at a time" + cpu},
		"a short pause of it":    {20 * ms, 40 * ms, measure.Health{GCPauseMax: ms}, v1beta1.ReasonReadLag, "In step 1000 responses were read up to 40ms after they had arrived" + cpu},
		"sent late":              {40 * ms, 20 * ms, measure.Health{}, v1beta1.ReasonScheduleLag, "In step 1000 requests were sent up to 40ms after a steady generator would have sent them" + cpu},
	} {
		t.Run(name, func(t *testing.T) {
			m := measure.NewMeasurement(1)
			m.Window, m.Health = time.Minute, tc.health
			m.Lateness.Record(tc.sent)
			m.ReadLateness.Record(tc.read)
			if reason, message := results.Delay(3, closed, m); reason != tc.reason || message != tc.message {
				t.Errorf("%s: %q\nwant %s: %q", reason, message, tc.reason, tc.message)
			}
		})
	}
}

// A closed loop has no schedule to miss, but a generator that reads late makes the
// target seem slow.
func TestResponsesThatAreReadLateAreTheGeneratorsDoing(t *testing.T) {
	burst := loading("burst", v1beta1.StepLoad{Users: 1000, RequestsPerUser: 1})
	single := loading("single", v1beta1.StepLoad{Users: 1})
	for name, tc := range map[string]struct {
		step           *v1beta1.StepStatus
		samples        int
		late, response time.Duration
		message        string
	}{
		"hardly late":                    {step: closed, samples: 100, late: 9 * ms, response: 20 * ms},
		"late":                           {step: closed, samples: 100, late: 12 * ms, response: 20 * ms, message: "In step 1000 responses were read up to 12ms (p99) after they had arrived; use 4 workers or more, or give each more CPU."},
		"late, on the one that has load": {step: single, samples: 100, late: 12 * ms, response: 20 * ms, message: "In step single responses were read up to 12ms (p99) after they had arrived; use 4 workers or more, or give each more CPU."},
		"late, but it hardly shows":      {step: closed, samples: 100, late: 12 * ms, response: time.Second},
		"late, with a schedule":          {step: paced, samples: 100, late: 100 * ms, response: 200 * ms, message: "In step 1000 responses were read up to 100ms (p99) after they had arrived; use 31 workers or more, or give each more CPU."},
		"too few samples":                {step: closed, samples: 99, late: time.Second, response: 20 * ms},
		"a burst, which comes together":  {step: burst, samples: 100, late: 100 * ms, response: 200 * ms},
	} {
		t.Run(name, func(t *testing.T) {
			merged := measure.NewMeasurement(4)
			for range tc.samples {
				merged.ReadLateness.Record(tc.late)
			}
			for range 100 {
				merged.Requests[0].Response.Record(tc.response)
			}
			got := stepResult(t, fleetOf(3), tc.step, merged).Generator
			if got.Message != tc.message || got.Healthy != (tc.message == "") || (got.ReadLatenessP99 != nil) != (tc.samples >= 100) {
				t.Errorf("healthy %v, %v: %q; want %q", got.Healthy, got.ReadLatenessP99, got.Message, tc.message)
			}
			if !got.Healthy && got.Reason != v1beta1.ReasonReadLag {
				t.Errorf("reason %s, want %s", got.Reason, v1beta1.ReasonReadLag)
			}
		})
	}
}

// Users that wait for a reply leave requests unsent by the target's doing, unless their
// worker could not run: one that was stopped for half of the step accuses no target.
func TestUnsentRequestsOfAWorkerThatCouldNotRun(t *testing.T) {
	for name, tc := range map[string]struct {
		unsent  int64
		health  measure.Health
		message string
	}{
		"a slow target":            {unsent: 500},
		"stopped":                  {unsent: 500, health: measure.Health{StalledMax: 12 * time.Second}, message: "Step 1000 sent only 50% of the due requests: a worker stood still for 12s, because it was stopped or its node is busy. "},
		"stopped for a tenth":      {unsent: 500, health: measure.Health{StalledMax: time.Second}},
		"no processor":             {unsent: 500, health: measure.Health{RunQueueWaitMax: 5 * time.Second}, message: "Step 1000 sent only 50% of the due requests: a worker's threads waited for a processor for 50% of the time, because its node is busy. "},
		"stopped, and nearly sent": {unsent: 5, health: measure.Health{StalledMax: 12 * time.Second}},
	} {
		t.Run(name, func(t *testing.T) {
			merged := measure.NewMeasurement(4)
			merged.Due, merged.Unsent, merged.Window, merged.Health = 1000, tc.unsent, 10*time.Second, tc.health
			got := stepResult(t, fleetOf(3), paced, merged).Generator
			if got.Healthy != (tc.message == "") || !strings.HasPrefix(got.Message, tc.message) {
				t.Errorf("healthy %v: %q; want %q", got.Healthy, got.Message, tc.message)
			}
			if !got.Healthy && got.Reason != v1beta1.ReasonNodeBusy {
				t.Errorf("reason %s, want %s", got.Reason, v1beta1.ReasonNodeBusy)
			}
		})
	} // Before there is a window, no wait is a part of it.
	merged := measure.NewMeasurement(4)
	merged.Due, merged.Unsent, merged.Health = 1000, 500, measure.Health{StalledMax: time.Second}
	if got := stepResult(t, fleetOf(3), paced, merged).Generator; !got.Healthy {
		t.Errorf("without a window: %q", got.Message)
	}
}

// fault is a simulated worker that lacks something, and what it has of it; the advice names
// what it is to have.
type fault struct {
	// measure is what workers that have so much measure.
	measure func(has float64) *measure.Measurement
	has     float64
	workers int32
	// before and after are what stand around the number in the advice.
	before, after string
	reason        string
}

// follow reads the number of the advice and has the workers have as much.
func (f fault) follow(t *testing.T, message string) float64 {
	t.Helper()
	_, rest, found := strings.Cut(message, f.before)
	number, _, _ := strings.Cut(rest, f.after)
	n, err := strconv.ParseFloat(number, 64)
	if !found || err != nil {
		t.Fatalf("no number between %q and %q in %q", f.before, f.after, message)
	}
	return n
}

// stood is a measurement of a window of 10 s in which 5 % of the requests were displaced
// unless the workers were well.
func stood(health measure.Health, isWell bool) *measure.Measurement {
	m := measure.NewMeasurement(4)
	m.Due, m.Window, m.Health = 1000, 10*time.Second, health
	r := &m.Requests[0]
	r.Sent = 1000
	if !isWell {
		r.Displaced = 50
	}
	return m
}

// lacking are workers each of which has something for 100 connections, of 1000 that are needed.
func lacking(what func(*measure.Health) *int64) func(workers float64) *measure.Measurement {
	return func(workers float64) *measure.Measurement {
		m := stood(measure.Health{}, true)
		m.ConnectionsOpened = min(int64(workers)*100, 1000)
		*what(&m.Health) = 1000 - m.ConnectionsOpened
		return m
	}
}

// A worker that was stopped once is not made faster by more workers: its run is repeated, and
// the load is whole if nothing stops it.
func TestAdviceForAStopThatIsFollowedHelps(t *testing.T) {
	got := stepResult(t, fleetOf(3), paced, stood(measure.Health{StalledMax: 600 * ms}, false)).Generator
	if want := ": a worker stood still for 600ms, because it was stopped or its node is busy. Run it again, "; !strings.Contains(got.Message, want) {
		t.Errorf("%q, want %q", got.Message, want)
	}
	if again := stepResult(t, fleetOf(3), paced, stood(measure.Health{}, true)).Generator; !again.Healthy {
		t.Errorf("run again: %s", again.Message)
	}
}

// Each piece of advice, followed, takes the fault away.
func TestAdviceThatIsFollowedHelps(t *testing.T) {
	const demand = 0.62 // processors that a worker would use
	of := func(share float64) time.Duration { return time.Duration(share * float64(10*time.Second)) }
	for name, tc := range map[string]fault{
		// It runs at its own pace in each period until its quota is used.
		"a CPU limit": {
			has: 50, workers: 3, before: "limits.cpu to ", after: "m,", reason: v1beta1.ReasonCPUThrottled,
			measure: func(limit float64) *measure.Measurement {
				used := min(limit/1000, demand)
				held := of(1 - used/demand)
				return stood(measure.Health{CPU: 3 * of(used), CPUThrottled: 3 * held, CPUThrottledMax: held, StalledMax: held, RunQueueWaitMax: held}, held == 0)
			},
		},
		// A busy node gives it what it has requested, and a tenth of a processor at least.
		"a request of CPU": {
			has: 0, workers: 3, before: "requests.cpu: ", after: "m)", reason: v1beta1.ReasonNodeBusy,
			measure: func(request float64) *measure.Measurement {
				used := min(max(request/1000, 0.1), demand)
				return stood(measure.Health{CPU: 3 * of(used), RunQueueWait: 3 * of(demand-used), RunQueueWaitMax: of(demand - used)}, used == demand)
			},
		},
		"descriptors": {has: 3, workers: 3, before: "use ", after: " workers", reason: v1beta1.ReasonDescriptorsExhausted,
			measure: lacking(func(h *measure.Health) *int64 { return &h.DescriptorsExhausted })},
		"ports": {has: 3, workers: 3, before: "use ", after: " workers", reason: v1beta1.ReasonPortsExhausted,
			measure: lacking(func(h *measure.Health) *int64 { return &h.PortsExhausted })},
	} {
		t.Run(name, func(t *testing.T) {
			got := stepResult(t, fleetOf(tc.workers), paced, tc.measure(tc.has)).Generator
			if got.Healthy || got.Reason != tc.reason {
				t.Fatalf("%s: %s, want %s", got.Reason, got.Message, tc.reason)
			}
			has := tc.follow(t, got.Message)
			if again := stepResult(t, fleetOf(tc.workers), paced, tc.measure(has)).Generator; !again.Healthy {
				t.Errorf("%s\nwith %v: %s", got.Message, has, again.Message)
			}
			if less := stepResult(t, fleetOf(tc.workers), paced, tc.measure(has*0.8)).Generator; less.Healthy {
				t.Errorf("%s\nwith a fifth less than %v nothing is wrong either", got.Message, has)
			}
		})
	}
}

// A load is displaced by each fault of its own kind, beyond its limit and not at it.
func TestDisplacedLoad(t *testing.T) {
	burst := loading("spike", v1beta1.StepLoad{Users: 10, RequestsPerUser: 2, Requests: 20})
	for name, tc := range map[string]struct {
		step *v1beta1.StepStatus
		edit func(m *measure.Measurement, beyond int64)
		want string
	}{
		"unsent": {paced, func(m *measure.Measurement, beyond int64) { m.Unsent, m.UnsentByGenerator = 50, 10+beyond },
			"In step 1000, 1.1% of the due requests were not sent, although a steady generator would have sent them; use 4 workers or more, or give each more CPU."},
		"sent late": {paced, func(m *measure.Measurement, beyond int64) { m.Requests[0].Displaced = 10 + beyond },
			"In step 1000, 1.1% of the requests were sent more than 100ms after a steady generator would have sent them; use more workers, or give each more CPU."},
		"some unsent, some sent late": {paced, func(m *measure.Measurement, beyond int64) {
			m.Unsent, m.UnsentByGenerator, m.Requests[0].Displaced = 50, 4+beyond, 6
		}, "In step 1000, 0.6% of the requests were sent more than 100ms after a steady generator would have sent them, and 0.5% of the due requests were not sent because of the generator; use 4 workers or more, or give each more CPU."},
		"users held up": {closed, func(m *measure.Measurement, beyond int64) {
			m.UserTime, m.HeldUp = 1000*time.Second, time.Duration(10+beyond)*time.Second
		}, "In step 1000, the generator kept the users from sending for 1.1% of their time; use 4 workers or more, or give each more CPU."},
		"100,000 users held up for hours of a day": {closed, func(m *measure.Measurement, beyond int64) {
			m.UserTime = 100_000 * 24 * time.Hour
			m.HeldUp = m.UserTime / 100 * time.Duration(1+11*beyond)
		}, "In step 1000, the generator kept the users from sending for 12% of their time; use 4 workers or more, or give each more CPU."},
		"users held up in a short burst": {burst, func(m *measure.Measurement, beyond int64) { // 10 ms each
			m.UserTime, m.HeldUp = time.Second, 100*time.Millisecond+time.Duration(beyond)*time.Nanosecond
		}, "In step spike, the generator kept the users from sending for 10% of their time; use 4 workers or more, or give each more CPU."},
		"a burst that was spread": {burst, func(m *measure.Measurement, beyond int64) {
			m.BurstSpread = 20*time.Millisecond + time.Duration(beyond)*time.Millisecond
			m.Requests[0].Service.RecordN(200*time.Millisecond, 20)
		}, "In step spike, the burst took 21ms to send; at most 20ms is allowed; use more workers, or give each more CPU."},
		"a burst of a fast target": {burst, func(m *measure.Measurement, beyond int64) {
			m.BurstSpread = 10*time.Millisecond + time.Duration(beyond)*10*time.Microsecond
			m.Requests[0].Service.RecordN(2*time.Millisecond, 20)
		}, "In step spike, the burst took 10.01ms to send; at most 10ms is allowed; use more workers, or give each more CPU."},
	} {
		t.Run(name, func(t *testing.T) {
			for beyond, want := range []string{"", tc.want} {
				m := stood(measure.Health{}, true)
				tc.edit(m, int64(beyond))
				if got := stepResult(t, fleetOf(3), tc.step, m).Generator; got.LoadDisplaced != (want != "") || got.Message != want {
					t.Errorf("displaced %v: %q, want %q", got.LoadDisplaced, got.Message, want)
				}
			}
		})
	}
}
