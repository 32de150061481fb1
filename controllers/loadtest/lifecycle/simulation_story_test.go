package lifecycle_test

import (
	"fmt"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// perSecond is how many requests each simulated worker sends in a second where no
// schedule says it.
const perSecond = 20

// due is how many requests of a step are due on one of all workers after so long.
func due(load *v1alpha1.StepLoad, worker, workers int, elapsed time.Duration) int64 {
	rate := load.Rate
	if rate == nil {
		rate = load.RatePerUser
	}
	if load.IsBurst() {
		users := (int64(load.Users) - int64(worker) + int64(workers) - 1) / int64(workers)
		return users * int64(load.RequestsPerUser)
	}
	if rate == nil {
		return int64(elapsed.Seconds() * perSecond)
	}
	perSecond, err := strconv.ParseFloat(rate.String(), 64)
	if err != nil {
		panic(err)
	}
	users := workers // who take turns
	if load.Users > 0 {
		users = int(load.Users)
		perSecond *= float64(load.Users)
	}
	n := int64(0)
	for hit := 0; float64(hit) < perSecond*elapsed.Seconds(); hit++ {
		if hit%users%workers == worker {
			n++
		}
	}
	return n
}

// measure has a worker report the directed step: a snapshot each second, the
// final one 100 ms after the window.
func (w *simulation) measure(i int, x *worker, untilStart time.Duration) {
	step := x.step
	alive := func() bool { return w.workers[i] == x && x.Pod == exchange.PodRunning && x.step == step && !x.stopped }
	length := time.Second // of a burst
	if d := w.lt.Status.Steps[step].Load.Duration; d != nil {
		length = d.Duration
	}
	report := func(elapsed time.Duration, final bool) func() {
		return func() {
			if alive() && !x.Final && w.lt.Status.CompletionTime == nil {
				inFlight := w.inFlight
				if final {
					inFlight = 0
				}
				w.report(i, x, elapsed, inFlight)
				x.Final = final
			}
		}
	}
	for elapsed := time.Second; elapsed < length; elapsed += time.Second {
		w.in(untilStart+elapsed, report(elapsed, false))
	}
	w.in(untilStart+length+100*time.Millisecond, report(length, true))
	if x.diesIn > 0 {
		w.in(untilStart+x.diesIn, func() {
			if alive() {
				w.end(x, "OOMKilled, exit code 137")
			}
		})
	}
}

// report has a worker report what it has measured after so long.
func (w *simulation) report(i int, x *worker, elapsed time.Duration, inFlight int64) {
	n := due(&w.lt.Status.Steps[x.step].Load, i, int(w.lt.Status.Workers.Desired), elapsed)
	x.latest, x.until, x.LastSeen = w.measurement(x, n, elapsed, min(inFlight, n)), w.now, w.now
	x.Reported, x.Due, x.Sent = true, n+w.excess, n
	w.target.stored += n - x.counted
	x.counted = n
}

// drain has the first worker's pod be deleted with grace: the worker cuts its step, hands
// over what it measured, and is gone once that is stored.
func (w *simulation) drain() {
	const i = 0
	x := w.workers[i]
	x.PodEnding, x.PodMessage = true, "its pod was evicted, as a node drain does"
	if x.latest != nil && !x.Final {
		w.report(i, x, w.now.Sub(x.started), 0)
		x.Final, x.Cut = true, true
	}
	w.in(time.Second, func() { w.end(x, "Error, exit code 1") })
}

// measurement is what a worker has measured of n requests.
func (w *simulation) measurement(x *worker, n int64, elapsed time.Duration, inFlight int64) *measure.Measurement {
	m := measure.NewMeasurement(len(w.lt.Spec.Requests))
	m.Due, m.Unsent, m.Window = n+w.excess, w.excess, elapsed
	m.FirstStart, m.LastStart = x.started, x.started
	m.Timeline, m.UserTime = &measure.Timeline{}, elapsed
	m.Health.CPUThrottled, m.Health.CPUThrottledMax = w.throttled, w.throttled
	r := &m.Requests[0]
	answered, latency := n-inFlight, w.latency
	if w.users > 0 && w.lt.Status.Steps[x.step].Load.Users > w.users {
		latency = time.Second
	}
	if w.lt.Status.Steps[x.step].Side == v1alpha1.SideControl {
		latency += w.slower
	}
	r.Sent, r.Expected, r.CompletedInWindow, r.ExpectedInWindow = n, answered, answered, answered
	r.Outcomes[measure.Success], r.Outcomes[measure.Unfinished] = answered, inFlight
	r.Response.RecordN(latency, answered)
	r.Service.RecordN(latency, answered)
	m.Lateness.RecordN(w.lateness, n)
	if w.lateness > measure.Displacement(elapsed) {
		r.Displaced = n
	}
	return m
}

// tellChange puts into the story what a person would notice.
func (w *simulation) tellChange(before, after v1alpha1.LoadTestStatus) {
	if before.Phase != after.Phase {
		w.tell("phase %s", after.Phase)
	}
	for _, c := range after.Conditions {
		old := meta.FindStatusCondition(before.Conditions, c.Type)
		if old == nil || old.Status != c.Status || old.Reason != c.Reason || old.Message != c.Message {
			w.tell("%s=%s %s: %s", c.Type, c.Status, c.Reason, c.Message)
		}
	}
	for _, c := range before.Conditions {
		if meta.FindStatusCondition(after.Conditions, c.Type) == nil {
			w.tell("%s is gone", c.Type)
		}
	}
	for i, s := range after.Steps {
		var old v1alpha1.StepStatus
		if i < len(before.Steps) {
			old = before.Steps[i]
		}
		if old.State != s.State && s.State != v1alpha1.StepPending {
			w.tell("step %s is %s%s", s.Name, s.State, at(s.StartTime, s.State))
		}
		if s.Result != nil && (old.Result == nil || old.Result.Sent != s.Result.Sent) {
			w.tell("step %s: %d sent of %d due%s, %d of %d workers reporting", s.Name, s.Result.Sent, s.Result.Due, unanswered(s.Result), s.WorkersReporting, after.Workers.Desired)
		}
	}
	for i, th := range after.Thresholds {
		if th.State != v1alpha1.ThresholdPending && before.Thresholds[i].State != th.State {
			w.tell("threshold %s is %s: %s", th.Name, th.State, th.Message)
		}
	}
	for i, a := range after.Audits {
		if i < len(before.Audits) && a.State != before.Audits[i].State && a.State != v1alpha1.AuditPending {
			w.tell("audit %s is %s: %s", a.Name, a.State, a.Message)
		}
	}
	w.tellSpread(before.Spread, after.Spread)
	if before.Verdict != after.Verdict {
		w.tell("verdict %s", after.Verdict)
	}
}

func (w *simulation) tellSpread(before, after []v1alpha1.SpreadStatus) {
	for i, s := range after {
		if i >= len(before) || before[i].Repetitions != s.Repetitions {
			w.tell("step %s, %d repetitions: p95 from %s to %s, in the middle %s", s.Name, s.Repetitions,
				s.P95.Min.Duration, s.P95.Max.Duration, s.P95.Median.Duration)
		}
	}
}

// unanswered says what is in flight, and what failed.
func unanswered(r *v1alpha1.StepResult) string {
	text := ""
	if r.InFlight > 0 {
		text += fmt.Sprintf(", %d in flight", r.InFlight)
	}
	if r.Failed > 0 {
		text += fmt.Sprintf(", %d failed", r.Failed)
	}
	return text
}

func at(t *metav1.MicroTime, state v1alpha1.StepState) string {
	if t == nil || state != v1alpha1.StepRunning {
		return ""
	}
	return fmt.Sprintf(", from %.3fs", t.Sub(began).Seconds())
}
