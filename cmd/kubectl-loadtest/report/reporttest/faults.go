package reporttest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/measure/archive"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// Faults are runs in which the generator, or the target, did what a report has to show,
// request by request: "stood-still", a worker that did not run for 4 s; "silent", a target
// that answered for 2 s only; "growing", a rate that a target cannot take for long.
func Faults(t *testing.T) map[string]*v1beta1.LoadTest {
	t.Helper()
	return map[string]*v1beta1.LoadTest{"stood-still": stoodStill(t), "silent": silent(t), "growing": growing(t)}
}

// request is when one was due, was sent and ended, and when it would have ended without the
// generator's own delay, in seconds of its step.
type request struct {
	due, sent, done, ideally float64
	timeout                  bool
}

// simulated are the requests of the steps of a run of Faults; nil of another run.
func simulated(name string) [][]request {
	switch name {
	case "stood-still":
		return [][]request{pausing()}
	case "silent":
		return [][]request{stopping()}
	case "growing":
		return [][]request{queueing(300), queueing(400)}
	}
	return nil
}

const seconds = 20.0 // of each step, but of the silent target's

// pausing has 100 users with 10 requests a second each, of whom a third were a worker's that
// did not run from the 8th second to the 12th.
func pausing() (list []request) {
	rng := rand.New(rand.NewPCG(1, 1))
	for user := range 100 {
		free := 0.0
		for n := range int(10 * seconds) {
			due := (float64(n) + float64(user)/100) / 10
			service := 0.0016 * math.Exp(0.8*rng.NormFloat64())
			sent := max(due, free)
			if user%3 == 0 && sent > 8 && sent < 12 {
				sent = 12
			}
			free = sent + service
			list = append(list, request{due: due, sent: sent, done: free, ideally: due + service})
		}
	}
	return list
}

// stopping has 5 users without a rate for 30 s, whose target answers for 2 s.
func stopping() (list []request) {
	rng := rand.New(rand.NewPCG(2, 2))
	for range 5 {
		for at := 0.0; at < 30; {
			r := request{due: at, sent: at, done: at + 0.005*math.Exp(0.3*rng.NormFloat64())}
			if r.done > 2 {
				r.done, r.timeout = at+10, true
			}
			r.ideally = r.done
			list, at = append(list, r), r.done
		}
	}
	return list
}

// queueing has a rate against 8 places of 20.2 ms on average: 396 requests a second.
func queueing(rate float64) (list []request) {
	rng := rand.New(rand.NewPCG(3, 3))
	var places [8]float64
	for n := range int(rate * seconds) {
		due, first := float64(n)/rate, 0
		for i := range places {
			if places[i] < places[first] {
				first = i
			}
		}
		places[first] = max(due, places[first]) + 8/396.0*(0.8+0.4*rng.Float64())
		list = append(list, request{due: due, sent: due, done: places[first], ideally: places[first]})
	}
	return list
}

// of is the time that some requests took, by what is measured of each.
func of(t *testing.T, list []request, took func(request) float64) *measure.Histogram {
	t.Helper()
	h := measure.NewHistogram()
	for _, r := range list {
		h.Record(time.Duration(took(r) * float64(time.Second)))
	}
	return h
}

func response(r request) float64 { return r.done - r.due }
func service(r request) float64  { return r.done - r.sent }
func ideal(r request) float64    { return r.ideally - r.due }

func latency(h *measure.Histogram) *v1beta1.Latency {
	at := func(q float64) *metav1.Duration {
		d, ok := h.Quantile(q)
		if !ok {
			return nil
		}
		return &metav1.Duration{Duration: d}
	}
	return &v1beta1.Latency{
		Samples: h.Count(), Min: &metav1.Duration{Duration: h.Min()}, Mean: &metav1.Duration{Duration: h.Mean().Round(time.Microsecond)},
		P50: at(0.5), P75: at(0.75), P90: at(0.9), P95: at(0.95), P99: at(0.99), P999: at(0.999), P9999: at(0.9999),
		Longest: &metav1.Duration{Duration: h.Max()},
	}
}

// timeline is how many were due and had not ended at the end of each slot.
func timeline(list []request, length float64) *measure.Timeline {
	var t measure.Timeline
	for i := range t.Outstanding {
		end := length * float64(i+1) / measure.TimelineSlots
		for _, r := range list {
			if r.due <= end && r.done > end {
				t.Outstanding[i]++
			}
		}
	}
	return &t
}

// run is a run of steps that were all carried out.
func run(t *testing.T, name string, load ...v1beta1.StepLoad) *v1beta1.LoadTest {
	t.Helper()
	start := time.Date(2026, 11, 20, 10, 15, 2, 0, time.UTC)
	lt := &v1beta1.LoadTest{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}}
	lt.Spec.Target.Service = &v1beta1.ServiceReference{Name: "checkout"}
	lt.Spec.Requests = []v1beta1.Request{{Name: "cart", HTTP: &v1beta1.HTTPRequest{Path: "/cart"}}}
	s := &lt.Status
	s.Phase, s.Verdict = v1beta1.PhaseFinished, v1beta1.VerdictPassed
	s.StartTime = &metav1.Time{Time: start}
	s.Workers = v1beta1.WorkerCounts{Desired: 3, Ready: 3}
	for i, list := range simulated(name) {
		lt.Spec.Steps = append(lt.Spec.Steps, v1beta1.Step{Name: "steady", Duration: load[i].Duration})
		title := fmt.Sprint(load[i].Users)
		if load[i].Rate != nil {
			title = load[i].Rate.String() + "/s"
		}
		s.Steps = append(s.Steps, v1beta1.StepStatus{
			Name: title, Rung: int32(i) + 1, State: v1beta1.StepComplete, WorkersReporting: 3, Load: load[i],
			StartTime: &metav1.MicroTime{Time: start}, Window: load[i].Duration, ThresholdState: v1beta1.ThresholdPassed,
			Result: measuredOf(t, list, load[i].Duration.Seconds()),
		})
		start = start.Add(load[i].Duration.Duration + time.Second)
	}
	s.CompletionTime = &metav1.Time{Time: start}
	return lt
}

// measuredOf is what requests amount to.
func measuredOf(t *testing.T, list []request, length float64) *v1beta1.StepResult {
	t.Helper()
	n, timeouts, late := int64(len(list)), int64(0), int64(0)
	for _, r := range list {
		if r.timeout {
			timeouts++
		}
		if r.sent-r.due > measure.LateAfter.Seconds() {
			late++
		}
	}
	h := of(t, list, response)
	encoded, err := h.Encode()
	if err != nil {
		t.Fatal(err)
	}
	r := &v1beta1.StepResult{
		Counts: v1beta1.Counts{Sent: n, Completed: n - timeouts, Expected: n - timeouts, Failed: timeouts,
			Outcomes:    v1beta1.Outcomes{Success: n - timeouts, Timeout: timeouts},
			StatusCodes: []v1beta1.StatusCodeCount{{Code: 200, Count: n - timeouts}}},
		Due: n, Late: late, Downtime: "0%",
		Throughput: fmt.Sprintf("%.1f", float64(n-timeouts)/length), Goodput: fmt.Sprintf("%.1f", float64(n-timeouts)/length),
		ResponseTime: latency(h), ServiceTime: latency(of(t, list, service)), Transport: "http1", Histogram: encoded,
		Generator: &v1beta1.GeneratorStatus{Healthy: true, SendLatenessP99: &metav1.Duration{Duration: 180 * time.Microsecond}, CPUThrottled: "0%", ConnectionsOpened: 100},
	}
	if ideally := of(t, list, ideal); !ideally.Equal(h) {
		r.WithoutGenerator = latency(ideally)
	}
	sum := int64(0)
	for _, n := range timeline(list, length).Outstanding {
		sum += n
	}
	r.Outstanding = &v1beta1.OutstandingResult{Mean: fmt.Sprintf("%.1f", float64(sum)/measure.TimelineSlots), Trend: v1beta1.OutstandingSteady}
	return r
}

// conclude writes the verdict, and a threshold for each of its sentences.
func conclude(lt *v1beta1.LoadTest, verdict v1beta1.Verdict, reason, message string, list ...v1beta1.ThresholdStatus) {
	s := &lt.Status
	s.Verdict, s.Thresholds = verdict, list
	status := map[v1beta1.Verdict]metav1.ConditionStatus{v1beta1.VerdictPassed: metav1.ConditionTrue, v1beta1.VerdictFailed: metav1.ConditionFalse}[verdict]
	if status == "" {
		status = metav1.ConditionUnknown
	}
	s.Conditions = append(s.Conditions, metav1.Condition{Type: v1beta1.ConditionThresholdsMet, Status: status, Reason: reason, Message: message})
}

// stoodStill is Inconclusive: a worker of three did not run for 4 s.
func stoodStill(t *testing.T) *v1beta1.LoadTest {
	ten := v1beta1.NewDecimal("10")
	lt := run(t, "stood-still", v1beta1.StepLoad{Users: 100, RatePerUser: &ten, Duration: &metav1.Duration{Duration: 20 * time.Second}})
	step := &lt.Status.Steps[0]
	step.ThresholdState = v1beta1.ThresholdInconclusive
	r := step.Result
	for _, q := range simulated(lt.Name)[0] {
		if q.sent-q.due > 0.2 {
			r.Displaced++
		}
	}
	g := r.Generator
	g.Healthy, g.LoadDisplaced, g.Reason, g.Stalled = false, true, v1beta1.ReasonNodeBusy, &metav1.Duration{Duration: 4 * time.Second}
	g.Message = fmt.Sprintf("In step 100, %s of the requests were sent more than 200ms after a steady generator would have sent them: a worker stood still for 4s, because it was stopped or its node is busy. "+
		"Run it again, and keep other load off the workers' nodes; more workers on the same nodes do not help.", text.Percent(r.Displaced, r.Sent))
	r.Outstanding.Trend = v1beta1.OutstandingSteady
	undecided := func(name, observed, without, limit string, metric v1beta1.Metric) v1beta1.ThresholdStatus {
		return v1beta1.ThresholdStatus{Name: name, Metric: metric, State: v1beta1.ThresholdInconclusive, Step: "100", Observed: observed, WithoutGenerator: without, Limit: limit,
			Reason: v1beta1.ReasonLoadDisplaced, Message: g.Message}
	}
	conclude(lt, v1beta1.VerdictInconclusive, v1beta1.ReasonLoadDisplaced, g.Message,
		undecided("fast", text.Short(r.ResponseTime.P95.Duration), text.Short(r.WithoutGenerator.P95.Duration), "500ms", "p95"),
		undecided("failureRate", "0%", "", "1%", v1beta1.MetricFailureRate))
	lt.Status.Thresholds[1].Default = true
	lt.Status.Conditions = append(lt.Status.Conditions, metav1.Condition{Type: v1beta1.ConditionGeneratorHealthy, Status: metav1.ConditionFalse, Reason: g.Reason, Message: g.Message})
	return lt
}

// silent is Failed: the target was down, and few requests say so.
func silent(t *testing.T) *v1beta1.LoadTest {
	lt := run(t, "silent", v1beta1.StepLoad{Users: 5, Duration: &metav1.Duration{Duration: 30 * time.Second}})
	step := &lt.Status.Steps[0]
	step.ThresholdState = v1beta1.ThresholdFailed
	step.Result.Downtime = "94%"
	step.Result.Outstanding.Trend = v1beta1.OutstandingUnknown
	step.Result.Outstanding.Message = "Users without a rate wait for each response before they send again, so nothing can pile up."
	p99 := text.Short(step.Result.ResponseTime.P99.Duration)
	message := "For 28s of 30s in step 5, requests were outstanding and none was answered (downtime 94%; at most 0.5% is allowed by default)."
	conclude(lt, v1beta1.VerdictFailed, v1beta1.ReasonTargetDown, message,
		v1beta1.ThresholdStatus{Name: "fast", Metric: "p99", State: v1beta1.ThresholdPassed, Step: "5", Observed: p99, Limit: "250ms", Message: "p99 is " + p99 + " in step 5; at most 250ms is allowed."},
		v1beta1.ThresholdStatus{Name: "failureRate", Default: true, Metric: v1beta1.MetricFailureRate, State: v1beta1.ThresholdPassed, Step: "5", Observed: "0.78%", Limit: "1%", Message: "failureRate is 0.78% in step 5; at most 1% is allowed by default."},
		v1beta1.ThresholdStatus{Name: "downtime", Default: true, Metric: v1beta1.MetricDowntime, State: v1beta1.ThresholdFailed, Step: "5", Observed: "94%", Limit: "0.5%", Reason: v1beta1.ReasonTargetDown, Message: message})
	return lt
}

// growing is Passed, and kept at its first rate only.
func growing(t *testing.T) *v1beta1.LoadTest {
	loads := make([]v1beta1.StepLoad, 2)
	for i, rate := range []string{"300", "400"} {
		loads[i] = v1beta1.StepLoad{Rate: ptr.To(v1beta1.NewDecimal(rate)), Duration: &metav1.Duration{Duration: 20 * time.Second}}
	}
	lt := run(t, "growing", loads...)
	lt.Status.MaxSustainedRate = "300"
	lt.Status.Steps[1].Result.Outstanding.Trend, lt.Status.Steps[1].Result.Outstanding.Growth = v1beta1.OutstandingGrowing, "4.0"
	p99 := text.Short(lt.Status.Steps[1].Result.ResponseTime.P99.Duration)
	conclude(lt, v1beta1.VerdictPassed, v1beta1.ReasonThresholdsKept,
		"Both thresholds were kept, defaults included. Outstanding requests grew by 4/s in step 400/s; at that rate p99 passes 500ms after 48s of this load. Step 400/s does not count as kept.",
		v1beta1.ThresholdStatus{Name: "fast", Metric: "p99", State: v1beta1.ThresholdPassed, Step: "400/s", Observed: p99, Limit: "500ms", Message: "p99 is " + p99 + " in step 400/s; at most 500ms is allowed."},
		v1beta1.ThresholdStatus{Name: "downtime", Default: true, Metric: v1beta1.MetricDowntime, State: v1beta1.ThresholdPassed, Step: "400/s", Observed: "0%", Limit: "0.5%", Message: "downtime is 0% in step 400/s; at most 0.5% is allowed by default."})
	return lt
}

// archivedFault adds what the archive of a step of a run of Faults has beyond its series.
func archivedFault(a *archive.Step, list []request, length float64) {
	a.Outstanding = archive.NewOutstanding(timeline(list, length), time.Duration(length*float64(time.Second))/measure.TimelineSlots)
	r := archive.Request{Name: "GET /cart", Type: "Read"}
	measured, ideally := measure.NewHistogram(), measure.NewHistogram()
	for _, q := range list {
		measured.Record(time.Duration(response(q) * float64(time.Second)))
		ideally.Record(time.Duration(ideal(q) * float64(time.Second)))
	}
	var err error
	if r.Response, err = archive.NewHistogram(measured); err != nil {
		panic(err)
	}
	if !ideally.Equal(measured) {
		if r.WithoutGenerator, err = archive.NewHistogram(ideally); err != nil {
			panic(err)
		}
	}
	a.Requests = []archive.Request{r}
	a.Series.Points = pointsOf(list, length)
}

// pointsOf is what happened in each second.
func pointsOf(list []request, length float64) []archive.Point {
	points := make([]archive.Point, int(length))
	times := make([]*measure.Histogram, len(points))
	for i := range points {
		times[i] = measure.NewHistogram()
		points[i].Outcomes = map[string]int64{}
	}
	at := func(second float64) *archive.Point {
		if second >= length {
			return &archive.Point{Outcomes: map[string]int64{}} // it is in no point of the window
		}
		return &points[int(second)]
	}
	for _, r := range list {
		at(r.due).Due++
		at(r.sent).Sent++
		p := at(r.done)
		if r.timeout {
			p.Outcomes["timeout"]++
		} else {
			p.Completed++
			p.Expected++
			p.Outcomes["success"]++
		}
		if r.done < length {
			times[int(r.done)].Record(time.Duration(response(r) * float64(time.Second)))
		}
	}
	for i, h := range times {
		l := latency(h)
		for _, q := range []struct {
			to   **int64
			from *metav1.Duration
		}{{&points[i].P50, l.P50}, {&points[i].P95, l.P95}, {&points[i].P99, l.P99}} {
			if q.from != nil && h.Count() > 0 {
				*q.to = ptr.To(q.from.Microseconds())
			}
		}
	}
	return points
}
