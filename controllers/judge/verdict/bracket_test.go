package verdict_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/verdict"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// ideally has all requests take that long without the generator's own delay.
func ideally(took time.Duration) func(*outcome) {
	return func(o *outcome) {
		for i := range o.merged.Requests {
			r := &o.merged.Requests[i]
			r.Ideal = measure.NewHistogram()
			r.Ideal.RecordN(took, r.Response.Count())
		}
	}
}

// excused are timeouts of 1 s of which it is not known whether the target answered.
func excused(timeouts, excused int64) func(*outcome) {
	return func(o *outcome) {
		failed(timeouts)(o)
		r := &o.merged.Requests[0]
		r.Outcomes[measure.ServerError] -= timeouts
		r.Outcomes[measure.Timeout], r.Excused = timeouts, excused
		r.Response.Reset()
		r.Response.RecordN(10*ms, r.Sent-timeouts)
		r.Response.RecordN(time.Second, timeouts)
	}
}

// late has all requests sent so late.
func late(by time.Duration) func(*outcome) {
	return func(o *outcome) { o.merged.Lateness.RecordN(by, o.merged.Due) }
}

// tooLate has so many requests take that long without the generator's own delay, the others
// 10 ms.
func tooLate(n int64, took time.Duration) func(*outcome) {
	return func(o *outcome) {
		r := &o.merged.Requests[0]
		r.Ideal = measure.NewHistogram()
		r.Ideal.RecordN(10*ms, r.Sent-n)
		r.Ideal.RecordN(took, n)
	}
}

// judgement is what is judged of a threshold.
type judgement struct {
	state             v1beta1.ThresholdState
	reason            string
	observed, ideally string
	message           string
}

func judgedIn(threshold v1beta1.Threshold, step v1beta1.StepStatus, o outcome) judgement {
	s := judge(spec(threshold), nil, step, o).Thresholds[0]
	return judgement{s.State, s.Reason, s.Observed, s.WithoutGenerator, s.Message}
}

// Each metric that the generator's delay may have changed: what both ends of its bracket
// keep is kept, what both breach is breached, and else neither is said.
func TestBracketDecides(t *testing.T) {
	const (
		uncertain = v1beta1.ReasonGeneratorUncertain
		cpu       = "; give each worker more CPU, or run it on a less busy node."
	)
	service := atMost("p95", "15ms")
	service.Time = v1beta1.ServiceTime
	expected := func(limit string) v1beta1.Threshold {
		threshold := atMost("p95", limit)
		threshold.Of = v1beta1.LatencyOfExpected
		return threshold
	}
	of := func(threshold v1beta1.Threshold, time v1beta1.LatencyTime) v1beta1.Threshold {
		threshold.Time = time
		return threshold
	}
	onTime90 := punctual(100, 90, 100)
	ideallyOnTime := func(n int64) func(*outcome) {
		return func(o *outcome) {
			for i := range o.merged.Requests {
				o.merged.Requests[i].IdealOnTime = []int64{0}
			}
			o.merged.Requests[0].IdealOnTime[0] = n
		}
	}
	atOnce := v1beta1.StepStatus{Name: "burst", Load: v1beta1.StepLoad{Users: 10, RequestsPerUser: 10, Requests: 100}}
	lasted := func(window time.Duration) func(*outcome) { return func(o *outcome) { o.merged.Window = window } }
	excusedOf := func(n int64) func(*outcome) { return func(o *outcome) { o.merged.Requests[0].Excused = n } }
	heldUp := func(o *outcome) { o.merged.UserTime, o.merged.HeldUp = 100*time.Second, time.Second }
	afterWindow := func(o *outcome) { // all were answered, ten of them after the window
		o.merged.Requests[0].ExpectedInWindow -= 10
		o.merged.Requests[0].CompletedInWindow -= 10
	}
	byGenerator := func(n int64) func(*outcome) {
		return func(o *outcome) { o.merged.Due, o.merged.Unsent, o.merged.UnsentByGenerator = 100, 4, n }
	}
	unread := func(o *outcome) {
		for i := range o.merged.Requests {
			r := &o.merged.Requests[i]
			must.Succeed(t, r.Service.Merge(r.Response))
		}
		o.merged.ReadLateness.Record(8 * ms)
	}
	fewLate := func(n int64, by time.Duration) func(*outcome) { // so many of a hundred
		return func(o *outcome) {
			o.merged.Lateness.RecordN(0, 100-n)
			o.merged.Lateness.RecordN(by, n)
		}
	}
	for name, tc := range map[string]struct {
		threshold v1beta1.Threshold
		step      v1beta1.StepStatus
		measured  outcome
		want      judgement
	}{
		"a quantile, kept by both":         {atMost("p95", "25ms"), paced(10), sent(50, 50, ideally(10*ms)), judgement{passed, "", "20.015ms", "10.007ms", "p95 is 20.015ms in step burst; at most 25ms is allowed."}},
		"a quantile, breached by both":     {atMost("p95", "5ms"), paced(10), sent(50, 50, ideally(10*ms)), judgement{broken, "", "20.015ms", "10.007ms", "p95 is 20.015ms in step burst (10.007ms without the generator's own delay); at most 5ms is allowed."}},
		"a quantile, by one":               {atMost("p95", "15ms"), paced(10), sent(50, 50, ideally(10*ms)), judgement{inconclusive, uncertain, "20.015ms", "10.007ms", "p95 is between 10.007ms and 20.015ms in step burst; at most 15ms is allowed. Without the generator's own delay it is 10.007ms."}},
		"of a generator that is not known": {atMost("p95", "15ms"), paced(10), sent(50, 50, ideally(10*ms), func(o *outcome) { o.result.Generator = nil }), judgement{inconclusive, uncertain, "20.015ms", "10.007ms", "p95 is between 10.007ms and 20.015ms in step burst; at most 15ms is allowed. Without the generator's own delay it is 10.007ms."}},
		"a difference of a hundredth":      {atMost("p95", "5ms"), paced(10), sent(50, 50, ideally(19_900*time.Microsecond)), judgement{broken, "", "20.015ms", "19.903ms", "p95 is 20.015ms in step burst; at most 5ms is allowed."}},
		"a minimum, by one":                {atLeast("p95", "15ms"), paced(10), sent(50, 50, ideally(10*ms)), judgement{inconclusive, uncertain, "20.015ms", "10.007ms", "p95 is between 10.007ms and 20.015ms in step burst; at least 15ms is required. Without the generator's own delay it is 10.007ms."}},
		"the longest":                      {atMost("longest", "15ms"), paced(10), sent(50, 50, ideally(10*ms)), judgement{inconclusive, uncertain, "20.015ms", "10.007ms", "longest is between 10.007ms and 20.015ms in step burst; at most 15ms is allowed. Without the generator's own delay it is 10.007ms."}},
		"the mean":                         {atMost("mean", "14ms"), paced(10), sent(50, 50, ideally(10*ms)), judgement{inconclusive, uncertain, "15.006ms", "10.004ms", "mean is between 10.004ms and 15.006ms in step burst; at most 14ms is allowed. Without the generator's own delay it is 10.004ms."}},
		"expected responses":               {expected("15ms"), paced(10), sent(50, 50, ideally(10*ms)), judgement{inconclusive, uncertain, "20.015ms", "10.007ms", "p95 of expected responses is between 10.007ms and 20.015ms in step burst; at most 15ms is allowed. Without the generator's own delay it is 10.007ms."}},

		"excused requests that are not expected":                 {expected("15ms"), paced(10), sent(50, 50, excusedOf(50)), judgement{broken, "", "20.015ms", "", "p95 of expected responses is 20.015ms in step burst; at most 15ms is allowed."}},
		"a service time of arrivals":                             {service, arrivals, sent(50, 50, unread, ideally(14*ms)), judgement{inconclusive, uncertain, "20.015ms", "12.012ms", "p95 service time is between 12.012ms and 20.015ms in step steady; at most 15ms is allowed. Without the generator's own delay it is 12.012ms. In step steady responses were read up to 8ms after they had arrived" + cpu}},
		"a service time that lay unread for longer":              {service, paced(10), sent(50, 50, unread, func(o *outcome) { o.merged.ReadLateness.Record(30 * ms) }), judgement{inconclusive, uncertain, "20.015ms", "0us", "p95 service time is between 0us and 20.015ms in step burst; at most 15ms is allowed. Without the generator's own delay it is 0us. In step burst responses were read up to 30ms after they had arrived" + cpu}},
		"a service time of a schedule, as long as it lay unread": {service, paced(10), sent(50, 50, unread, ideally(14*ms)), judgement{inconclusive, uncertain, "20.015ms", "12.012ms", "p95 service time is between 12.012ms and 20.015ms in step burst; at most 15ms is allowed. Without the generator's own delay it is 12.012ms. In step burst responses were read up to 8ms after they had arrived" + cpu}},
		"a service time of users without a rate":                 {of(atMost("p95", "15ms"), v1beta1.ServiceTime), users(10), sent(50, 50, unread, ideally(14*ms)), judgement{inconclusive, uncertain, "20.015ms", "14.007ms", "p95 service time is between 14.007ms and 20.015ms in step burst; at most 15ms is allowed. Without the generator's own delay it is 14.007ms. In step burst responses were read up to 8ms after they had arrived" + cpu}},

		"timeouts, all excused":                       {atMost("failureRate", "1%"), paced(10), sent(100, 0, excused(2, 2)), judgement{inconclusive, uncertain, "2%", "0%", "failureRate is between 0% and 2% in step burst; at most 1% is allowed. Without the generator's own delay it is 0%."}},
		"timeouts, too few excused":                   {atMost("failureRate", "1%"), paced(10), sent(100, 0, excused(4, 2)), judgement{broken, "", "4%", "2%", "failureRate is 4% in step burst (2% without the generator's own delay); at most 1% is allowed."}},
		"a quantile of excused ones":                  {atMost("p95", "500ms"), paced(10), sent(100, 0, excused(6, 6)), judgement{inconclusive, uncertain, "1.000447s", "10.007ms", "p95 is between 10.007ms and 1.000447s in step burst; at most 500ms is allowed. Without the generator's own delay it is 10.007ms."}},
		"a quantile of timeouts":                      {atMost("p95", "500ms"), paced(10), sent(100, 0, excused(12, 6)), judgement{broken, "", "1.000447s", "", "p95 is 1.000447s in step burst; at most 500ms is allowed."}},
		"the longest of excused ones":                 {atMost("longest", "500ms"), paced(10), sent(100, 0, excused(6, 6)), judgement{inconclusive, uncertain, "1.000447s", "10.007ms", "longest is between 10.007ms and 1.000447s in step burst; at most 500ms is allowed. Without the generator's own delay it is 10.007ms."}},
		"the longest of timeouts":                     {atMost("longest", "500ms"), paced(10), sent(100, 0, excused(12, 6)), judgement{broken, "", "1.000447s", "", "longest is 1.000447s in step burst; at most 500ms is allowed."}},
		"the longest, one of which is excused":        {atMost("longest", "500ms"), paced(10), sent(100, 0, excused(1, 1)), judgement{inconclusive, uncertain, "1.000447s", "10.007ms", "longest is between 10.007ms and 1.000447s in step burst; at most 500ms is allowed. Without the generator's own delay it is 10.007ms."}},
		"the mean of excused ones":                    {atMost("mean", "50ms"), paced(10), sent(100, 0, excused(6, 6)), judgement{inconclusive, uncertain, "69.415ms", "9.388ms", "mean is between 9.388ms and 69.415ms in step burst; at most 50ms is allowed. Without the generator's own delay it is 9.388ms."}},
		"the mean of one, excused":                    {atMost("mean", "5ms"), paced(10), sent(1, 0, excusedOf(1)), judgement{broken, "", "10.004ms", "", "mean is 10.004ms in step burst; at most 5ms is allowed."}},
		"a median beside an excused one":              {atMost("p50", "5ms"), paced(10), sent(50, 50, excusedOf(1)), judgement{broken, "", "10.007ms", "", "p50 is 10.007ms in step burst; at most 5ms is allowed. The slowest request is follow, with 20.015ms."}},
		"on time, but for excused ones":               {onTime("95%"), paced(10), sent(100, 0, onTime90, excusedOf(6)), judgement{inconclusive, uncertain, "90%", "96%", "onTimeRate within 200ms is between 90% and 96% in step burst; at least 95% is required. Without the generator's own delay it is 96%."}},
		"on time, but for unsent ones":                {onTime("95%"), paced(10), sent(94, 0, onTime90, func(o *outcome) { o.merged.UnsentByGenerator = 6 }), judgement{inconclusive, uncertain, "90%", "96%", "onTimeRate within 200ms is between 90% and 96% in step burst; at least 95% is required. Without the generator's own delay it is 96%."}},
		"on time, but for denied ones":                {onTime("95%"), paced(10), sent(100, 0, punctual(100, 85, 100), deniedAsExpected(10), excusedOf(10)), judgement{inconclusive, uncertain, "94.44%", "100%", "onTimeRate within 200ms is between 94.44% and 100% in step burst; at least 95% is required. Without the generator's own delay it is 100%."}},
		"failures for want of a port":                 {atMost("failureRate", "0%"), paced(10), sent(50, 50, exhausted(0, 1)), judgement{inconclusive, uncertain, "1%", "0%", "failureRate is between 0% and 1% in step burst; at most 0% is allowed. Without the generator's own delay it is 0%."}},
		"failures beside one":                         {atMost("failureRate", "0%"), paced(10), sent(50, 50, failed(1), func(o *outcome) { o.merged.Health.DescriptorsExhausted = 1 }), judgement{broken, "", "1%", "", "failureRate is 1% in step burst; at most 0% is allowed. Failed: create 1 of 50 (serverError)."}},
		"denials that were not sent":                  {atLeast("rateLimitedRate", "1%"), paced(10), sent(50, 50, exhausted(1, 0)), judgement{inconclusive, uncertain, "0%", "1%", "rateLimitedRate is between 0% and 1% in step burst; at least 1% is required. Without the generator's own delay it is 1%."}},
		"unsent by the generator":                     {atMost("unsentRate", "3%"), paced(10), sent(48, 48, byGenerator(2)), judgement{inconclusive, uncertain, "4%", "2%", "unsentRate is between 2% and 4% in step burst; at most 3% is allowed. Without the generator's own delay it is 2%."}},
		"unsent by the target":                        {atMost("unsentRate", "3%"), paced(10), sent(48, 48, byGenerator(0)), judgement{broken, "", "4%", "", "unsentRate is 4% in step burst; at most 3% is allowed."}},
		"on time without the delay":                   {onTime("95%"), paced(10), sent(100, 0, onTime90, ideallyOnTime(97)), judgement{inconclusive, uncertain, "90%", "97%", "onTimeRate within 200ms is between 90% and 97% in step burst; at least 95% is required. Without the generator's own delay it is 97%."}},
		"a maximum on time, by one":                   {noMoreOnTime("95%"), paced(10), sent(100, 0, onTime90, ideallyOnTime(97)), judgement{inconclusive, uncertain, "90%", "97%", "onTimeRate within 200ms is between 90% and 97% in step burst; at most 95% is allowed. Without the generator's own delay it is 97%."}},
		"late without the delay":                      {onTime("99%"), paced(10), sent(100, 0, onTime90, ideallyOnTime(97)), judgement{broken, "", "90%", "97%", "onTimeRate within 200ms is 90% in step burst (97% without the generator's own delay); at least 99% is required."}},
		"goodput of users held up":                    {atLeast("goodput", "10.05"), users(10), sent(50, 50, heldUp), judgement{inconclusive, uncertain, "10", "10.1", "goodput is between 10 and 10.1 in step burst; at least 10.05 is required. Without the generator's own delay it is 10.1."}},
		"goodput of users held up all the time":       {atLeast("goodput", "5"), users(10), sent(50, 50, func(o *outcome) { o.merged.HeldUp = o.merged.UserTime }), judgement{passed, "", "10", "", "goodput is 10 in step burst; at least 5 is required."}},
		"goodput of nothing":                          {atLeast("goodput", "1"), paced(10), sent(0, 0, unfinished(5)), judgement{broken, "", "0", "", "goodput is 0 in step burst; at least 1 is required."}},
		"goodput of a burst":                          {atLeast("goodput", "1050"), atOnce, sent(50, 50, ideally(10*ms), lasted(100*ms)), judgement{inconclusive, uncertain, "1000", "1111.2", "goodput is between 1000 and 1111.2 in step burst; at least 1050 is required. Without the generator's own delay it is 1111.2."}},
		"goodput of a burst, twice at most":           {atLeast("goodput", "7000"), atOnce, sent(50, 50, ideally(10*ms), lasted(15*ms)), judgement{inconclusive, uncertain, "6666.6", "13333.3", "goodput is between 6666.6 and 13333.3 in step burst; at least 7000 is required. Without the generator's own delay it is 13333.3."}},
		"goodput without what was not sent":           {atLeast("goodput", "9.7"), paced(10), sent(48, 48, unsentOf(4, 2)), judgement{inconclusive, uncertain, "9.6", "9.8", "goodput is between 9.6 and 9.8 in step burst; at least 9.7 is required. Without the generator's own delay it is 9.8."}},
		"goodput without more than was not sent":      {atLeast("goodput", "9.9"), paced(10), sent(49, 49, unsentOf(2, 4)), judgement{inconclusive, uncertain, "9.8", "10", "goodput is between 9.8 and 10 in step burst; at least 9.9 is required. Without the generator's own delay it is 10."}},
		"goodput without failures for want of a port": {atLeast("goodput", "9.9"), paced(10), sent(50, 50, exhausted(0, 2)), judgement{inconclusive, uncertain, "9.8", "10", "goodput is between 9.8 and 10 in step burst; at least 9.9 is required. Without the generator's own delay it is 10."}},
		"goodput beyond what held up":                 {atLeast("goodput", "10.2"), users(10), sent(50, 50, heldUp), judgement{broken, "", "10", "10.1", "goodput is 10 in step burst (10.1 without the generator's own delay); at least 10.2 is required."}},
		"responses after the window":                  {atLeast("goodput", "9.4"), paced(10), sent(50, 50, afterWindow, ideally(9*ms)), judgement{inconclusive, uncertain, "9", "9.4", "goodput is between 9 and 9.4 in step burst; at least 9.4 is required. Without the generator's own delay it is 9.4."}},
		"all after the window":                        {atLeast("goodput", "95"), paced(10), sent(50, 50, afterWindow, ideally(ms), lasted(time.Second)), judgement{inconclusive, uncertain, "90", "100", "goodput is between 90 and 100 in step burst; at least 95 is required. Without the generator's own delay it is 100."}},
		"responses of arrivals":                       {atLeast("goodput", "9.4"), arrivals, sent(50, 50, afterWindow, ideally(9*ms)), judgement{inconclusive, uncertain, "9", "9.4", "goodput is between 9 and 9.4 in step steady; at least 9.4 is required. Without the generator's own delay it is 9.4."}},
		"and ideal times are longer":                  {atLeast("goodput", "9.5"), paced(10), sent(50, 50, afterWindow, ideally(30*ms)), judgement{broken, "", "9", "", "goodput is 9 in step burst; at least 9.5 is required."}},
		"and the generator on time":                   {atLeast("goodput", "9.5"), paced(10), sent(50, 50, afterWindow), judgement{broken, "", "9", "", "goodput is 9 in step burst; at least 9.5 is required."}},

		"breached by less than what was late":     {atMost("p95", "5ms"), paced(10), sent(50, 50, ideally(10*ms), late(6*ms)), judgement{inconclusive, uncertain, "20.015ms", "10.007ms", "p95 is 10.007ms without the generator's own delay in step burst; at most 5ms is allowed. Requests that were sent up to 6ms late reached the target together with others, and may have waited for them. In step burst requests were sent up to 6ms after a steady generator would have sent them" + cpu}},
		"breached by more than what was late":     {atMost("p95", "5ms"), paced(10), sent(50, 50, ideally(10*ms), late(4*ms)), judgement{broken, "", "20.015ms", "10.007ms", "p95 is 20.015ms in step burst (10.007ms without the generator's own delay); at most 5ms is allowed."}},
		"the mean, by less than what was late":    {atMost("mean", "5ms"), paced(10), sent(50, 50, ideally(10*ms), late(2*ms)), judgement{inconclusive, uncertain, "15.006ms", "10.004ms", "mean is 10.004ms without the generator's own delay in step burst; at most 5ms is allowed. Requests that were sent up to 8ms late reached the target together with others, and may have waited for them. In step burst requests were sent up to 2ms after a steady generator would have sent them" + cpu}},
		"the longest, by more than what was late": {atMost("longest", "5ms"), paced(10), sent(50, 50, ideally(10*ms), late(4*ms)), judgement{broken, "", "20.015ms", "10.007ms", "longest is 20.015ms in step burst (10.007ms without the generator's own delay); at most 5ms is allowed."}},
		"too late by less than the generator":     {onTime("99%"), paced(10), sent(100, 0, onTime90, ideallyOnTime(97), tooLate(3, 210*ms), late(20*ms)), judgement{inconclusive, uncertain, "90%", "97%", "onTimeRate within 200ms is 97% without the generator's own delay in step burst; at least 99% is required. Requests that were sent up to 20ms late reached the target together with others, and may have waited for them. In step burst requests were sent up to 20ms after a steady generator would have sent them" + cpu}},
		"too late by more than the generator":     {onTime("99%"), paced(10), sent(100, 0, onTime90, ideallyOnTime(97), tooLate(3, 230*ms), late(20*ms)), judgement{broken, "", "90%", "97%", "onTimeRate within 200ms is 90% in step burst (97% without the generator's own delay); at least 99% is required."}},
		"a share of 99 %, as p99":                 {onTime("99%"), paced(10), sent(100, 0, onTime90, ideallyOnTime(97), tooLate(3, 210*ms), fewLate(1, 20*ms)), judgement{inconclusive, uncertain, "90%", "97%", "onTimeRate within 200ms is 97% without the generator's own delay in step burst; at least 99% is required. Requests that were sent up to 20ms late reached the target together with others, and may have waited for them. In step burst requests were sent up to 20ms after a steady generator would have sent them" + cpu}},
		"p99, as a share of 99 %":                 {atMost("p99", "200ms"), paced(10), sent(100, 0, slow(3, 220*ms), tooLate(3, 210*ms), fewLate(1, 20*ms)), judgement{inconclusive, uncertain, "220.031ms", "210.047ms", "p99 is 210.047ms without the generator's own delay in step burst; at most 200ms is allowed. Requests that were sent up to 20ms late reached the target together with others, and may have waited for them. In step burst requests were sent up to 20ms after a steady generator would have sent them" + cpu}},
		"a share of 80 %, of which few were late": {onTime("80%"), paced(10), sent(100, 0, punctual(100, 70, 100), ideallyOnTime(78), tooLate(22, 210*ms), fewLate(4, 20*ms)), judgement{broken, "", "70%", "78%", "onTimeRate within 200ms is 70% in step burst (78% without the generator's own delay); at least 80% is required."}},
		"the longest, by less than one was late":  {atMost("longest", "5ms"), paced(10), sent(50, 50, ideally(10*ms), fewLate(1, 6*ms)), judgement{inconclusive, uncertain, "20.015ms", "10.007ms", "longest is 10.007ms without the generator's own delay in step burst; at most 5ms is allowed. Requests that were sent up to 6ms late reached the target together with others, and may have waited for them. In step burst requests were sent up to 6ms after a steady generator would have sent them" + cpu}},
		"a worker of an older release":            {atMost("p95", "15ms"), paced(10), sent(50, 50), judgement{broken, "", "20.015ms", "", "p95 is 20.015ms in step burst; at most 15ms is allowed."}},
	} {
		t.Run(name, func(t *testing.T) {
			got := judgedIn(tc.threshold, tc.step, tc.measured)
			same.As(t, "judgement", tc.want, got, cmp.AllowUnexported(judgement{}))
		})
	}
}

// A load that was not the planned one by the generator's fault keeps nothing and breaches
// nothing, but for the audit of a limiter.
func TestDisplacedLoadDecidesNothing(t *testing.T) {
	not := judgement{inconclusive, v1beta1.ReasonLoadDisplaced, "", "", "The load was displaced."}
	for name, tc := range map[string]struct {
		threshold v1beta1.Threshold
		edit      func(*outcome)
		want      judgement
	}{
		"a quantile kept":           {atMost("p95", "1s"), nil, not},
		"a quantile breached":       {atMost("p95", "1ms"), nil, not},
		"failures":                  {atMost("failureRate", "0%"), failed(50), not},
		"goodput":                   {atLeast("goodput", "1000"), nil, not},
		"grants over the limit":     {atMost("overLimitGrants", "0"), audited(10, 0, 0), judgement{state: broken, message: "overLimitGrants is 10 in step burst; at most 0 is allowed."}},
		"denials that were right":   {atMost("falseDenials", "0"), audited(0, 0, 0), judgement{state: passed, message: "falseDenials is 0 in step burst; at most 0 is allowed."}},
		"denials that were wrong":   {atMost("falseDenials", "0"), audited(0, 3, 0), judgement{state: broken, message: "falseDenials is 3 in step burst; at most 0 is allowed."}},
		"nothing that was measured": {atMost("p95", "1s"), func(o *outcome) { *o = sent(0, 0, displaced) }, judgement{state: inconclusive, message: "p95 of step burst cannot be judged: no request was sent."}},
	} {
		t.Run(name, func(t *testing.T) {
			o := sent(50, 50)
			if tc.edit != nil {
				tc.edit(&o)
			}
			audit := o.result.RateLimit
			displaced(&o)
			o.result.RateLimit = audit
			got := judgedIn(tc.threshold, paced(10), o)
			got.observed = ""
			same.As(t, "judgement", tc.want, got, cmp.AllowUnexported(judgement{}))
		})
	}
}

// A step whose result the generator's delay decides has no healthy generator.
func TestGeneratorThatDecidesIsNotHealthy(t *testing.T) {
	stopped := func(o *outcome) {
		o.merged.Health.StalledMax = 10 * ms
		o.merged.ReadLateness.Record(10 * ms)
	}
	const cause = "In step burst a worker stood still for 10ms, because it was stopped or its node is busy. Run it again, and keep other load off the workers' nodes; more workers on the same nodes do not help."
	const between = "longest is between 10.007ms and 20.015ms in step burst; at most 15ms is allowed. Without the generator's own delay it is 10.007ms."
	for name, tc := range map[string]struct {
		limit    string
		measured outcome
		want     verdict.Generator
	}{
		"it was stopped":     {"15ms", sent(50, 50, ideally(10*ms), stopped), verdict.Generator{Reason: v1beta1.ReasonNodeBusy, Message: cause}},
		"it is not known":    {"15ms", sent(50, 50, ideally(10*ms)), verdict.Generator{Reason: v1beta1.ReasonScheduleLag, Message: between}},
		"it decides nothing": {"25ms", sent(50, 50, ideally(10*ms), stopped), verdict.Generator{Healthy: true, Reason: v1beta1.ReasonHealthy, Message: "The generator was not the limit in any step."}},
		"it was known too":   {"15ms", sent(50, 50, ideally(10*ms), stopped, sick), verdict.Generator{}},
	} {
		t.Run(name, func(t *testing.T) {
			s := spec(atMost("longest", tc.limit))
			status := accepted(s, users(10))
			if j := complete(s, status, 0, tc.measured); j.Generator != nil {
				status.Steps[0].Result.Generator = j.Generator
			}
			if got := verdict.Final(s, status).Generator; got == nil || *got != tc.want {
				t.Errorf("generator %+v, want %+v", got, tc.want)
			}
		})
	}
}
