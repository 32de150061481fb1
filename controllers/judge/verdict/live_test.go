package verdict_test

import (
	"math"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/verdict"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// planned is a step of 1000 requests in 100 s.
func planned() v1beta1.StepStatus {
	return v1beta1.StepStatus{Name: "burst", State: v1beta1.StepRunning, Load: v1beta1.StepLoad{
		Rate: ptr(v1beta1.NewDecimal("10")), Requests: 1000, Duration: &metav1.Duration{Duration: 100 * time.Second},
	}}
}

// look judges thresholds that abort, 10 s after the beginning of a step.
func look(t v1beta1.Threshold, step v1beta1.StepStatus, o outcome, edits ...func(*v1beta1.LoadTestSpec)) *v1beta1.ThresholdStatus {
	t.OnBreach = v1beta1.BreachAbort
	s := spec(t)
	for _, edit := range edits {
		edit(s)
	}
	step.Result = o.result
	_, breach, _ := verdict.Abort(s, &v1beta1.LoadTestStatus{Requests: plan.RequestNames(s)}, verdict.Live{
		Step: &step, Merged: o.merged, Shortest: o.merged.Window, All: true, Now: time.Date(2026, 11, 20, 10, 15, 42, 0, time.UTC),
	}, verdict.Seconds{})
	return breach
}

// noLess is what is said of a maximum that is out of reach, of which there may be details.
func noLess(what, value, limit string, details ...string) string {
	said := []string{what + " can no longer be less than " + value + " in step burst; at most " + limit + " is allowed."}
	return strings.Join(append(append(said, details...), "Aborted at 10:15:42 UTC."), " ")
}

func noMore(what, value, limit string) string {
	return what + " can no longer be more than " + value + " in step burst; at least " + limit + " is required. Aborted at 10:15:42 UTC."
}

// dueAsSent sets due of create and follow to what was sent.
func dueAsSent(o *outcome) {
	for i := range o.merged.Requests {
		r := &o.merged.Requests[i]
		r.Due = r.Sent
	}
	o.merged.Due = o.merged.Requests[0].Sent + o.merged.Requests[1].Sent
}

// withoutOverdue are workers that do not report what is overdue.
func withoutOverdue(o *outcome) {
	for i := range o.merged.Requests {
		o.merged.Requests[i].Overdue = nil
	}
}

// ideallyPunctual has so many requests create on time without the generator's own delay.
func ideallyPunctual(n int64) func(*outcome) {
	return func(o *outcome) {
		o.merged.Requests[0].IdealOnTime, o.merged.Requests[1].IdealOnTime = []int64{n}, o.merged.Requests[1].OnTime
	}
}

// deniedAsExpected turns n of the requests create into denials that are expected.
func deniedAsExpected(n int64) func(*outcome) {
	return func(o *outcome) {
		outcomes := &o.merged.Requests[0].Outcomes
		outcomes[measure.Success] -= n
		outcomes[measure.RateLimited] += n
	}
}

// served has all requests take as long from when they were sent as from when they were due.
func served(o *outcome) {
	for i := range o.merged.Requests {
		o.merged.Requests[i].Service = o.merged.Requests[i].Response.Clone()
	}
}

func noMoreOnTime(rate string) v1beta1.Threshold {
	t := onTime("0%")
	t.Min, t.Max = nil, atMost("onTimeRate", rate).Max
	return t
}

// A step is aborted once all that is left of its requests could not mend a breach, and
// not one request earlier.
func TestAbortsWhatCannotBeMended(t *testing.T) {
	graced := func(t v1beta1.Threshold, grace time.Duration) v1beta1.Threshold {
		t.Grace = &metav1.Duration{Duration: grace}
		return t
	}
	closed := users(10)
	service := atMost("p95", "100ms")
	service.Time = v1beta1.ServiceTime
	for name, tc := range map[string]struct {
		threshold v1beta1.Threshold
		step      v1beta1.StepStatus
		measured  outcome
		message   string
	}{
		"as many failures as are allowed": {atMost("failureRate", "1%"), planned(), sent(90, 10, failed(10)), ""},
		"one failure more": {atMost("failureRate", "1%"), planned(), sent(90, 10, failed(11)),
			noLess("failureRate", "1.1%", "1%", "Failed: create 11 of 90 (serverError).")},
		"of one request, all that is left may be of it": {onRequest(atMost("failureRate", "1%"), "create"), planned(), sent(50, 50, failed(9), dueAsSent), ""},
		"of one request, what is left cannot all mend it": {onRequest(atMost("failureRate", "1%"), "create"), planned(), sent(50, 50, failed(10), dueAsSent),
			noLess("failureRate of create", "1.06%", "1%")},
		"slow, but few":                            {atMost("p95", "100ms"), planned(), sent(40, 10, slow(50, 200*ms)), ""},
		"slow, and one more":                       {atMost("p95", "100ms"), planned(), sent(40, 10, slow(51, 200*ms)), noLess("p95", "200.063ms", "100ms")},
		"requests missed":                          {onTime("99%"), planned(), sent(90, 10, punctual(90, 80, 90)), ""},
		"one more was missed":                      {onTime("99%"), planned(), sent(90, 10, punctual(90, 79, 90)), noMore("onTimeRate within 200ms", "98.9%", "99%")},
		"no answer for long":                       {onTime("99%"), planned(), sent(10, 10, unfinished(70), punctual(80, 10, 21)), noMore("onTimeRate within 200ms", "98.9%", "99%")},
		"no answer yet":                            {onTime("99%"), planned(), sent(10, 10, unfinished(70), punctual(80, 10, 20)), ""},
		"goodput out of reach":                     {atLeast("goodput", "9.9"), planned(), sent(90, 10, failed(11)), noMore("goodput", "9.8", "9.9")},
		"goodput in reach":                         {atLeast("goodput", "9.9"), planned(), sent(90, 10, failed(10)), ""},
		"goodput above a maximum":                  {atMost("goodput", "0.9"), planned(), sent(90, 10), noLess("goodput", "1", "0.9")},
		"the longest time of users without a rate": {atMost("longest", "100ms"), closed, sent(90, 10, slow(1, 200*ms)), noLess("longest", "200.063ms", "100ms")},
		"all failed, of users without a rate":      {atMost("failureRate", "1%"), closed, sent(90, 10, failed(90)), ""},
		"too few requests":                         {atMost("failureRate", "0%"), planned(), sent(10, 9, failed(9)), ""},
		"within the grace":                         {graced(atMost("failureRate", "1%"), 10*time.Second+1), planned(), sent(90, 10, failed(90)), ""},
		"at the end of the grace":                  {graced(atMost("failureRate", "99%"), 10*time.Second), planned(), sent(500, 490, failed(500)), ""},
		"slow by the generator's delay":            {atMost("p95", "100ms"), planned(), sent(40, 10, slow(51, 200*ms), ideally(10*ms)), ""},
		"slow without the generator's delay":       {atMost("p95", "100ms"), planned(), sent(40, 10, slow(51, 200*ms), ideally(150*ms)), noLess("p95", "200.063ms", "100ms")},
		"a load that was displaced":                {atMost("p95", "100ms"), planned(), sent(40, 10, slow(51, 200*ms), displaced), ""},
		"a step that the threshold is not about":   {upTo(5, atMost("longest", "100ms")), closed, sent(90, 10, slow(1, 200*ms)), ""},
		"of one request, what the others are due is not of it": {
			onRequest(atMost("failureRate", "1%"), "create"), planned(), sent(50, 50, failed(5), dueAsSent, func(o *outcome) {
				o.merged.Requests[1].Due += 500
				o.merged.Due += 500
			}),
			noLess("failureRate of create", "1.12%", "1%"),
		},
		"counts that cannot be added up": {
			atMost("failureRate", "1%"), planned(), sent(900, 100, failed(900), func(o *outcome) { o.merged.Requests[1].Response.RecordN(ms, math.MaxInt64-900) }), "",
		},
		"a bound that cannot be read":                           {atMost("p95", "500"), planned(), sent(900, 100), ""},
		"a minimum of the longest time of users without a rate": {atLeast("longest", "1s"), closed, sent(90, 10), ""},
		"goodput of users without a rate, above a maximum":      {atMost("goodput", "1"), closed, sent(90, 10), noLess("goodput", "3.4", "1")},
		"goodput of a burst, whose end is not known": {
			atLeast("goodput", "1000"), v1beta1.StepStatus{Name: "burst", State: v1beta1.StepRunning, Load: v1beta1.StepLoad{Users: 10, RequestsPerUser: 10, Requests: 100}}, sent(90, 10), "",
		},
		"throughput in reach":                  {atLeast("throughput", "9.9"), planned(), sent(90, 10), ""},
		"missed by the generator's delay":      {onTime("99%"), planned(), sent(90, 10, punctual(90, 79, 90), ideallyPunctual(80)), ""},
		"missed without the generator's delay": {onTime("99%"), planned(), sent(90, 10, punctual(90, 78, 90), ideallyPunctual(79)), noMore("onTimeRate within 200ms", "98.8%", "99%")},
		"one more was missed, beside denials":  {onTime("99%"), planned(), sent(90, 10, punctual(90, 69, 90), deniedAsExpected(10)), noMore("onTimeRate within 200ms", "98.88%", "99%")},
		"slow, and few without the delay":      {atMost("p95", "100ms"), planned(), sent(40, 10, slow(51, 200*ms), tooLate(50, 150*ms)), ""},
		"slow service, but little":             {service, planned(), sent(40, 10, slow(50, 200*ms), served), ""},
		"slow service":                         {service, planned(), sent(40, 10, slow(51, 200*ms), served), noLess("p95 service time", "200.063ms", "100ms")},
		"all were due, and none is left": {atMost("failureRate", "1%"), planned(), sent(900, 100, failed(11), dueAsSent),
			noLess("failureRate", "1.1%", "1%", "Failed: create 11 of 900 (serverError).")},
		"all ended, and none is left": {atMost("failureRate", "1%"), planned(), sent(900, 100, failed(11)),
			noLess("failureRate", "1.1%", "1%", "Failed: create 11 of 900 (serverError).")},
		"as many failures as are allowed, and some in flight":   {atMost("failureRate", "1%"), planned(), sent(90, 10, failed(10), unfinished(50)), ""},
		"too few failures, and all that is left may fail":       {atLeast("failureRate", "90%"), planned(), sent(90, 10), ""},
		"too few failures, even if all that is left fails":      {atLeast("failureRate", "91%"), planned(), sent(90, 10, unfinished(50)), noMore("failureRate", "90%", "91%")},
		"too few are rate limited, and all that is left may be": {atLeast("rateLimitedRate", "90%"), planned(), sent(90, 10), ""},
		"too few are rate limited, even if all that is left is": {atLeast("rateLimitedRate", "91%"), planned(), sent(90, 10), noMore("rateLimitedRate", "90%", "91%")},
		"too fast, and all that is left may be slow":            {atLeast("p95", "1s"), planned(), sent(90, 10), ""},
		"too fast, even if all that is left is slow":            {atLeast("p50", "1s"), planned(), sent(590, 10), noMore("p50", "10.007ms", "1s")},
		"too many on time, and all that is left may be missed":  {noMoreOnTime("10%"), planned(), sent(90, 10, punctual(90, 90, 90)), ""},
		"too many on time, even if all that is left is missed": {noMoreOnTime("9%"), planned(), sent(90, 10, punctual(90, 90, 90)),
			noLess("onTimeRate within 200ms", "10%", "9%")},
		"what is on time was not counted": {onTime("99%"), planned(), sent(90, 10, failed(50)), ""},
		"what is overdue was not counted": {onTime("99%"), planned(), sent(90, 10, failed(50), punctual(90, 0, 90), withoutOverdue), ""},
		"more were due than are planned":  {atMost("failureRate", "1%"), planned(), sent(900, 101, failed(900), dueAsSent), ""},
	} {
		t.Run(name, func(t *testing.T) {
			message := ""
			if breach := look(tc.threshold, tc.step, tc.measured); breach != nil {
				message = breach.Message
				if breach.State != broken || breach.AbortTime == nil || breach.Step != "burst" || !strings.Contains(message, breach.Observed) {
					t.Errorf("breach %+v", breach)
				}
			}
			if message != tc.message {
				t.Errorf("message %q, want %q", message, tc.message)
			}
		})
	}
}

// A threshold that is not to abort does not, nor does one in a step of the control.
func TestNothingAbortsUnasked(t *testing.T) {
	limit, control := atMost("failureRate", "1%"), planned()
	control.Side = v1beta1.SideControl
	unasked := func(s *v1beta1.LoadTestSpec) { s.Thresholds[0].OnBreach = "" }
	if look(limit, planned(), sent(90, 10, failed(90))) == nil {
		t.Error("a breach does not abort where it is to")
	}
	journey := func(s *v1beta1.LoadTestSpec) { s.Journeys = []v1beta1.Journey{{Name: "a"}} }
	for name, breach := range map[string]*v1beta1.ThresholdStatus{
		"of a difference": look(increase("p95", "10%"), planned(), sent(900, 100)),
		"of a journey":    look(ofJourneys(limit, "a"), planned(), sent(900, 100, journeys(1, time.Second, 9, 0, 0)), journey),
		"unasked":         look(limit, planned(), sent(90, 10, failed(90)), unasked), "of the control": look(limit, control, sent(90, 10, failed(90))),
	} {
		if breach != nil {
			t.Errorf("%s: %+v", name, breach)
		}
	}
}

// What is left may be of the request with the most items.
func TestAbortsItemsOutOfReach(t *testing.T) {
	items := func(s *v1beta1.LoadTestSpec) { s.Requests[0].Items = 25 }
	for limit, aborts := range map[string]bool{"247": false, "248": true} {
		if breach := look(atLeast("itemsPerSecond", limit), planned(), sent(90, 10), items); (breach != nil) != aborts {
			t.Errorf("at least %s/s is required, of at most 247.6/s: %+v", limit, breach)
		}
	}
	if look(onRequest(atLeast("itemsPerSecond", "9.6"), "follow"), planned(), sent(50, 50), items) == nil {
		t.Error("what is left counts with the items of another request")
	}
}

func onRequest(t v1beta1.Threshold, names ...string) v1beta1.Threshold {
	t.Requests = names
	return t
}

func upTo(n int32, t v1beta1.Threshold) v1beta1.Threshold {
	t.UpToUsers = &n
	return t
}

// Users without a rate: a breach must last for ten seconds, one after another, the first
// of which ends the grace of five, and in all of which every worker reports. What comes
// at once after a silence is worth two of them.
func TestAbortsABreachThatLasts(t *testing.T) {
	for name, tc := range map[string]struct {
		// failures are those of the 100 requests that end in a second, silent whether a worker is.
		failures func(second int) int64
		silent   func(second int) bool
		// absent says that one has never reported: the others' windows go on.
		absent bool
		// inFlight is how many requests are in flight all the time.
		inFlight int64
		want     int
	}{
		"from the beginning":                          {func(int) int64 { return 50 }, nil, false, 0, 14},
		"one good second in between":                  {func(s int) int64 { return map[bool]int64{true: 0, false: 50}[s == 8] }, nil, false, 0, 18},
		"a single bad second":                         {func(s int) int64 { return map[bool]int64{true: 100, false: 0}[s == 8] }, nil, false, 0, 0},
		"a breach that others outweigh":               {func(s int) int64 { return map[bool]int64{true: 0, false: 11}[s < 20] }, nil, false, 0, 0},
		"a worker is silent":                          {func(int) int64 { return 50 }, func(s int) bool { return s > 5 }, false, 0, 0},
		"a worker is silent for a while":              {func(int) int64 { return 50 }, func(s int) bool { return s > 5 && s < 20 }, false, 0, 27},
		"a worker has not reported":                   {func(int) int64 { return 50 }, func(int) bool { return true }, true, 0, 0},
		"a breach of those in flight, if they failed": {func(s int) int64 { return map[bool]int64{true: 12, false: 0}[s > 10] }, nil, false, 100, 0},
	} {
		t.Run(name, func(t *testing.T) {
			shortest := time.Duration(0)
			got := abortedAfter(t, spec(atMost("failureRate", "10%")), users(10), 28, time.Second, func(second int, m *measure.Measurement) {
				r, n := &m.Requests[0], tc.failures(second)
				r.Sent, r.Expected = r.Sent+100, r.Expected+100-n
				r.Outcomes[measure.Success], r.Outcomes[measure.ServerError] = r.Expected, r.Outcomes[measure.ServerError]+n
				if second == 1 {
					r.Sent, r.Outcomes[measure.Unfinished] = r.Sent+tc.inFlight, tc.inFlight
				}
				r.Response.RecordN(ms, 100)
				for range n {
					r.Failed.Record(ms, ms, ms)
				}
			}, func(second int, live *verdict.Live) {
				live.All = tc.silent == nil || !tc.silent(second)
				if live.All || tc.absent {
					shortest = live.Shortest
				}
				live.Shortest = shortest
			})
			if got != tc.want {
				t.Errorf("aborted in second %d, want %d", got, tc.want)
			}
		})
	}
}
