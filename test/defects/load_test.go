package defects_test

import (
	"slices"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/groundtruth"
)

// Defect: a closed loop, which omits the requests that it did not send while it
// waited. The server stalls; for each request that was due in the stall the user
// waited until its end, whether or not a connection was free to send it.
func TestCoordinatedOmission(t *testing.T) {
	const perSecond, length = 400, time.Second
	stall := groundtruth.Event{Kind: groundtruth.Stall, From: 200 * ms, For: 400 * ms}
	for name, steps := range map[string][]v1beta1.Step{
		"users":    paced(4, "100", length),
		"arrivals": arrivals("400", length),
	} {
		t.Run(name, func(t *testing.T) {
			o := experiment{
				server: groundtruth.Config{Script: []groundtruth.Event{stall}}, connections: 4, spec: v1beta1.LoadTestSpec{Steps: steps},
			}.run(t)
			truth := waited(o, perSecond, length)
			// What was due in the stall and never sent has no response time; it is
			// counted as unsent.
			truth = truth[:max(0, len(truth)-int(o.merged.Unsent))]
			n := o.total.Response.Count()
			for k := 2; k <= len(truth); k++ {
				// The k-th largest response time is at least the k-th largest wait.
				got, ok := o.total.Response.Quantile(float64(n-int64(k)+1) / float64(n))
				if want := truth[k-1]; !ok || float64(got) < float64(want)*precision {
					t.Fatalf("the %d. largest of %d response times is %v; %d requests waited at least %v for the end of the stall",
						k, n, got, k, want)
				}
			}
		})
	}
}

// waited is how long the requests that were due in the stall waited for its end,
// the longest first.
func waited(o outcome, perSecond int64, length time.Duration) (list []time.Duration) {
	span := o.server.Counters().Stalls[0]
	for i := range perSecond * int64(length/time.Second) {
		if due := o.start + i*int64(time.Second)/perSecond; span.From <= due && due < span.To {
			list = append(list, time.Duration(span.To-due))
		}
	}
	slices.Sort(list)
	slices.Reverse(list)
	return list
}

// Defect: load that was never sent is not reported, nor is what was intended
// beside what was done. The target answers nothing; users that wait send
// nothing, and the result must count that as unsent.
func TestIntendedAndActualLoad(t *testing.T) {
	o := experiment{
		server:  routes(map[string]groundtruth.Route{"": {Latency: groundtruth.Fixed(forever)}}),
		timeout: 500 * ms,
		spec: v1beta1.LoadTestSpec{
			Steps: paced(3, "100", 300*ms), Parallelism: ptr[int32](2),
			Thresholds: []v1beta1.Threshold{atMost(v1beta1.MetricUnsentRate, "1%")},
		},
	}.run(t)
	const due = 90 // 3 users, 100 requests a second each, for 300 ms
	served := o.settled(t).Requests
	if o.result.Due != due || o.result.Sent != served || o.result.Unsent != due-served || served > 3 {
		t.Errorf("due %d, sent %d, unsent %d; want %d, %d, %d: the server got %d requests of 3 users",
			o.result.Due, o.result.Sent, o.result.Unsent, due, served, due-served, served)
	}
	o.verdictIs(t, v1beta1.VerdictFailed)
}

// The rate that was reached is that of the server's clock, and nothing is sent
// before it is due.
func TestNothingIsSentEarly(t *testing.T) {
	const perSecond = 500
	for name, steps := range map[string][]v1beta1.Step{
		"users":    paced(50, "10", time.Second),
		"arrivals": arrivals("500", time.Second),
	} {
		t.Run(name, func(t *testing.T) {
			o := experiment{server: groundtruth.Config{Record: perSecond}, spec: v1beta1.LoadTestSpec{Steps: steps, Parallelism: ptr[int32](2)}}.run(t)
			if got := o.settled(t).Requests + o.result.Unsent; o.result.Due != perSecond || got != perSecond {
				t.Errorf("due %d, served and unsent %d; want %d", o.result.Due, got, perSecond)
			}
			for _, r := range o.server.Records() {
				if due := o.start + r.Number*int64(time.Second)/perSecond; r.Received < due {
					t.Errorf("request %d came %v before it was due", r.Number, time.Duration(due-r.Received))
				}
			}
		})
	}
}
