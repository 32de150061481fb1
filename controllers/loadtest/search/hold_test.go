package search_test

import (
	"testing"

	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/search"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// held searches with holds until the end: probes are answered by one target, holds by
// another. The first part of what it returns are the probes, the second the holds.
func held(t *testing.T, r search.Range, probes, holds func(load int64) search.Outcome) (sent, hold []search.Probe, result search.Result) {
	t.Helper()
	r.Holds = search.MaxHolds
	for range r.MaxProbes + r.Holds + 1 {
		all := append(append([]search.Probe(nil), sent...), hold...)
		switch result = r.Next(all); {
		case result.State != search.Searching:
			return sent, hold, result
		case result.Hold:
			hold = append(hold, search.Probe{Load: result.Next, Outcome: holds(result.Next), Hold: true})
		case len(hold) > 0:
			t.Fatalf("a probe of %d after %v", result.Next, hold)
		default:
			sent = append(sent, search.Probe{Load: result.Next, Outcome: probes(result.Next)})
		}
	}
	t.Fatal("the search does not end")
	return nil, nil, result
}

// The load that was found is held, and what a hold breaches is taken back by the precision,
// here 5 %.
func TestTheLoadThatWasFoundIsHeld(t *testing.T) {
	all := limit(1e15)
	for name, tt := range map[string]struct {
		probes, holds func(int64) search.Outcome
		want          string
		result        search.Result
	}{
		"kept":                               {limit(1000e6), all, "974.7k", search.Result{State: search.Found, Low: 974.7e6, High: 1023e6}},
		"kept after it was taken back twice": {limit(1000e6), limit(900e6), "974.7b 928.2b 884k", search.Result{State: search.Found, Low: 884e6, High: 928.2e6}},
		"kept after a hold without a result": {limit(1000e6), outcomes("u", all), "974.7u 974.7k", search.Result{State: search.Found, Low: 974.7e6, High: 1023e6}},
		"breached each time":                 {limit(1000e6), limit(700e6), "974.7b 928.2b 884b 841.9b 801.8b", search.Result{State: search.Exhausted, Low: 800e6, High: 801.8e6}},
		"without a result":                   {limit(1000e6), outcomes("buuu", all), "974.7b 928.2u 928.2u 928.2u", search.Result{State: search.StillUnclear, Low: 951.2e6, High: 974.7e6}},
		"without a result at the last": {
			limit(1000e6), outcomes("bubuu", all), "974.7b 928.2u 928.2b 884u 884u", search.Result{State: search.StillUnclear, Low: 800e6, High: 928.2e6},
		},
		"without a result, once, at the last": {
			limit(1000e6), outcomes("bbbbu", all), "974.7b 928.2b 884b 841.9b 801.8u", search.Result{State: search.StillUnclear, Low: 800e6, High: 841.9e6},
		},
		"max is kept":                       {all, all, "100000k", search.Result{State: search.BeyondMax, Low: 100_000e6}},
		"max is kept by the probes alone":   {all, limit(99_000e6), "100000b 95230k", search.Result{State: search.Found, Low: 95_230e6, High: 100_000e6}},
		"min is kept by the probes alone":   {limit(103e6), limit(1), "100.3b 100b 100b", search.Result{State: search.BelowMin, High: 100e6}},
		"min is kept when it is held again": {limit(103e6), outcomes("bb", all), "100.3b 100b 100k", search.Result{State: search.Found, Low: 100e6, High: 100.3e6}},
		"min is held again without a result": {
			limit(103e6), outcomes("bbuuu", all), "100.3b 100b 100u 100u 100u", search.Result{State: search.StillUnclear, High: 100e6},
		},
		"min is held again by the last hold": {limit(118e6), limit(1), "114.2b 108.7b 103.5b 100b 100b", search.Result{State: search.BelowMin, High: 100e6}},
		"min is reached by the last hold":    {limit(124e6), limit(1), "119.2b 113.5b 108b 102.8b 100b", search.Result{State: search.Exhausted, High: 100e6}},
		"min is breached by the probes":      {limit(1), all, "", search.Result{State: search.BelowMin, High: 100e6}},
	} {
		t.Run(name, func(t *testing.T) {
			_, holds, result := held(t, rates, tt.probes, tt.holds)
			same.As(t, "holds", tt.want, story(holds))
			same.As(t, "result", tt.result, result)
		})
	}
}

// Of few users, a load is taken back by one at least.
func TestAHoldIsTakenBackByOneUserAtLeast(t *testing.T) {
	users := search.Range{Min: 1, Max: 20, Precision: 0.05, MaxProbes: search.MaxProbes}
	_, holds, result := held(t, users, limit(7), limit(5))
	same.As(t, "holds", []search.Probe{{7, search.Breached, true}, {6, search.Breached, true}, {5, search.Kept, true}}, holds)
	if want := (search.Result{State: search.Found, Low: 5, High: 6}); result != want {
		t.Errorf("%+v, want %+v", result, want)
	}
}
