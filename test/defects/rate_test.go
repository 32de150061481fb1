package defects_test

import (
	"math/big"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/groundtruth"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// most is the largest rate that so many responses make in a window, as it is
// printed.
func most(n int64, window time.Duration) *big.Rat {
	rate := big.NewRat(n*int64(time.Second), int64(window))
	return rate.Add(rate, big.NewRat(1, 10))
}

func rateOf(t *testing.T, text string) *big.Rat {
	t.Helper()
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		t.Fatalf("the rate is %q", text)
	}
	return r
}

// Defect: throughput that counts failures. Half of the connections are reset,
// a quarter of the responses are errors; goodput is of the rest alone.
func TestFailuresAreNoThroughput(t *testing.T) {
	const length = 500 * ms
	o := experiment{
		server: routes(map[string]groundtruth.Route{
			"fails":  {Reply: groundtruth.Status(503, 1)},
			"resets": {Reply: groundtruth.Reset()},
		}),
		spec: v1beta1.LoadTestSpec{
			Requests:   []v1beta1.Request{get("/ok"), get("/fails"), get("/resets"), get("/resets/2")},
			Steps:      arrivals("400", length),
			Thresholds: []v1beta1.Threshold{atLeast(v1beta1.MetricGoodput, "150")},
		},
	}.run(t)
	c := o.settled(t)
	if got, limit := rateOf(t, o.result.Throughput), most(c.Routes[""]+c.Routes["fails"], length); got.Cmp(limit) > 0 {
		t.Errorf("throughput is %s/s; the server gave %d whole responses in %v", o.result.Throughput, c.Routes[""]+c.Routes["fails"], length)
	}
	if got, limit := rateOf(t, o.result.Goodput), most(c.Routes[""], length); got.Cmp(limit) > 0 {
		t.Errorf("goodput is %s/s; the server gave %d good responses in %v", o.result.Goodput, c.Routes[""], length)
	}
	if want := c.Requests - c.Routes[""]; o.result.Failed != want {
		t.Errorf("%d failed, want %d", o.result.Failed, want)
	}
	// 100 of 400 requests a second are good, so that the threshold is breached.
	if state := o.status.Thresholds[0].State; state == v1beta1.ThresholdPassed {
		t.Error("a goodput of 150/s is said to be kept")
	}
}

// Defect: a denominator that is not the window: with the drain, or without the
// time in which nothing succeeded. Each response is held for 300 ms, so that
// those to the last requests come in the drain.
func TestTheDrainIsNotInTheWindow(t *testing.T) {
	const length, held = 600 * ms, 300 * ms
	o := experiment{
		server: groundtruth.Config{Record: 1000, Routes: map[string]groundtruth.Route{"": {Latency: groundtruth.Fixed(held)}}},
		spec:   v1beta1.LoadTestSpec{Steps: arrivals("200", length)},
	}.run(t)
	o.settled(t)
	same.As(t, "the window", length, o.merged.Window)
	// When the server has noted that it answered, the worker may have had the
	// answer for a while; but it cannot have had it before it was due.
	within := int64(0)
	for _, r := range o.server.Records() {
		if r.Received+int64(held) <= o.start+int64(length) {
			within++
		}
	}
	if got := o.total.CompletedInWindow; got > within {
		t.Errorf("%d responses count into the window, the server gave at most %d in it", got, within)
	}
	if got, limit := rateOf(t, o.result.Throughput), most(within, length); got.Cmp(limit) > 0 {
		t.Errorf("throughput is %s/s; %d responses at most came in %v", o.result.Throughput, within, length)
	}
	// The drain is not lost either: its responses are outcomes.
	if got := o.result.Completed; got != o.result.Sent {
		t.Errorf("%d of %d requests were answered, all were", got, o.result.Sent)
	}
}
