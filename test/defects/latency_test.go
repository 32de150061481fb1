package defects_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/groundtruth"
)

// Defect: percentiles of successes only. Of three requests one is answered at
// once, one fails after 80 ms, and one is never answered.
func TestQuantilesAreOfAllOutcomes(t *testing.T) {
	o := experiment{
		server: routes(map[string]groundtruth.Route{
			"fails": {Reply: groundtruth.Status(500, 1), Latency: groundtruth.Fixed(80 * ms)},
			"hangs": {Latency: groundtruth.Fixed(forever)},
		}),
		timeout: 150 * ms,
		spec: v1beta1.LoadTestSpec{
			Requests: []v1beta1.Request{get("/ok"), get("/fails"), get("/hangs")},
			Steps:    burst(12, 3),
		},
	}.run(t)
	for what, l := range map[string]*v1beta1.Latency{"response": o.result.ResponseTime, "service": o.result.ServiceTime} {
		if l.Samples != 36 {
			t.Errorf("%s time has %d samples, want one of each of 36 requests", what, l.Samples)
		}
		atLeastDuration(t, what+" p50, which is of a failure,", l.P50, 80*ms)
		atLeastDuration(t, what+" p75, which is of a timeout,", l.P75, 150*ms)
		atLeastDuration(t, what+" longest", l.Longest, 150*ms)
	}
}

// Defect: percentiles off by one rank, rounded to two figures, or off by a
// factor of 100. Each value is 1 % above the one before, so that
// neighbours differ.
func TestQuantilesAreNearestRanks(t *testing.T) {
	const n = 1000
	values := make([]time.Duration, n)
	for i := range values {
		values[i] = time.Duration(float64(ms) * math.Pow(1.01, float64(i)))
	}
	shuffled := make([]time.Duration, n)
	for i, j := range rand.New(rand.NewPCG(1, 2)).Perm(n) {
		shuffled[i] = values[j]
	}
	o := measured(t, v1beta1.LoadTestSpec{Steps: burst(n, 1)}, func(s *measure.Measurement) {
		q := &s.Requests[0]
		q.Sent, q.Expected, q.Outcomes[measure.Success] = n, n, n
		for _, v := range shuffled {
			q.Response.Record(v)
			q.Service.Record(v)
		}
	})
	l := o.result.ResponseTime
	for rank, got := range map[int]*metav1.Duration{1: l.Min, 500: l.P50, 750: l.P75, 900: l.P90, 950: l.P95, 990: l.P99, 999: l.P999, 1000: l.Longest} {
		want := values[rank-1]
		if got == nil || math.Abs(float64(got.Duration-want)) > float64(want)/1000 {
			t.Errorf("rank %d of %d is %v, want %v", rank, n, got, want)
		}
	}
	if l.P9999 != nil {
		t.Errorf("p99.99 of %d samples is %v, want none: it would be the maximum under another name", n, l.P9999)
	}
}

// Defect: one run of few samples, stated as if it were sure. A quantile that too
// few samples are behind is not given, and no threshold on it is kept.
func TestTooFewSamplesAreNoAnswer(t *testing.T) {
	o := experiment{spec: v1beta1.LoadTestSpec{
		Steps:      burst(5, 10),
		Thresholds: []v1beta1.Threshold{atMost("p99", "3600s")},
	}}.run(t)
	l := o.result.ResponseTime
	if l.Samples != 50 || l.P95 == nil || l.P99 != nil {
		t.Errorf("of %d samples p95 is %v and p99 is %v; want 50, one and none", l.Samples, l.P95, l.P99)
	}
	o.verdictIs(t, v1beta1.VerdictInconclusive)
}

// Defect: runs that cannot be repeated. The same seed sends the same requests,
// another seed others.
func TestTheSameSeedSendsTheSameRequests(t *testing.T) {
	numbers := func(uid string) map[int64]int {
		o := experiment{
			server: groundtruth.Config{Record: 100}, uid: uid,
			spec: v1beta1.LoadTestSpec{
				Requests: []v1beta1.Request{get("/${rand:1-1000000000}")},
				Steps:    burst(10, 5), Parallelism: ptr[int32](2),
			},
		}.run(t)
		set := map[int64]int{}
		for _, r := range o.server.Records() {
			set[r.Number]++
		}
		return set
	}
	one, again, other := numbers("a"), numbers("a"), numbers("b")
	same := 0
	for n := range other {
		same += one[n]
	}
	for n, k := range one {
		if again[n] != k {
			t.Errorf("the run requested /%d %d times, its repetition %d times", n, k, again[n])
		}
	}
	if len(one) < 45 || same > 5 {
		t.Errorf("of %d requests %d are the same with another seed", len(one), same)
	}
}
