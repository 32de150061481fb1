package search_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/search"
	"github.com/loadtest-dev/loadtest-operator/test/golden"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// rates is the range of 100 to 100,000 requests per second.
var rates = search.Range{Min: 100e6, Max: 100_000e6, Precision: 0.05, MaxProbes: search.MaxProbes}

// run searches until the end, and returns the loads of all probes.
func run(t *testing.T, r search.Range, target func(load int64) search.Outcome) ([]search.Probe, search.Result) {
	t.Helper()
	var probes []search.Probe
	for {
		result := r.Next(probes)
		if result.State != search.Searching {
			if result.Next != 0 {
				t.Fatalf("a search that ended has a next load: %+v", result)
			}
			return probes, result
		}
		if result.Next < r.Min || result.Next > r.Max {
			t.Fatalf("load %d is not from %d to %d; probes %v", result.Next, r.Min, r.Max, probes)
		}
		probes = append(probes, search.Probe{Load: result.Next, Outcome: target(result.Next)})
		if len(probes) > r.MaxProbes {
			t.Fatalf("%d probes", len(probes))
		}
	}
}

// limit is a target that keeps all loads up to one.
func limit(load int64) func(int64) search.Outcome {
	return func(l int64) search.Outcome {
		if l <= load {
			return search.Kept
		}
		return search.Breached
	}
}

// outcomes is a target that answers by a script of k, b and u, and then as another.
func outcomes(script string, then func(int64) search.Outcome) func(int64) search.Outcome {
	return func(load int64) search.Outcome {
		if script == "" {
			return then(load)
		}
		next := script[0]
		script = script[1:]
		return map[byte]search.Outcome{'k': search.Kept, 'b': search.Breached, 'u': search.Unclear}[next]
	}
}

// story is a search as a person reads it, in requests per second.
func story(probes []search.Probe) string { return storyIn(1e6, probes) }

func storyIn(unit float64, probes []search.Probe) string {
	var b strings.Builder
	for _, p := range probes {
		fmt.Fprintf(&b, "%v%s ", float64(p.Load)/unit, map[search.Outcome]string{search.Kept: "k", search.Breached: "b", search.Unclear: "u"}[p.Outcome])
	}
	return strings.TrimSpace(b.String())
}

func TestSearches(t *testing.T) {
	tests := map[string]struct {
		target func(int64) search.Outcome
		want   string
		result search.Result
	}{
		"a steady target": {limit(1000e6),
			"100k 200k 400k 800k 1600b 1600b 1131b 951.2k 1037b 993.1k 1014b 1023b 1023b 974.7k 974.7k",
			search.Result{State: search.Found, Low: 974.7e6, High: 1023e6}},
		"the limit is above the range": {limit(1e15), "100k 200k 400k 800k 1600k 3200k 6400k 12800k 25600k 51200k 100000k 100000k",
			search.Result{State: search.BeyondMax, Low: 100_000e6}},
		"the limit is below the range": {limit(1), "100b 100b", search.Result{State: search.BelowMin, High: 100e6}},
		"a breach at min that does not come again": {outcomes("bkk", limit(150e6)),
			"100b 100k 100k 200b 141.4k 168.1b 154.1b 147.6k 150.8b 152.1b 152.1b 144.9k 144.9k",
			search.Result{State: search.Found, Low: 144.9e6, High: 152.1e6}},
		"a min that is breached twice of three times": {outcomes("bkb", limit(1)), "100b 100k 100b", search.Result{State: search.BelowMin, High: 100e6}},
		"a load that is kept well above one that is breached": {
			outcomes("kbkkbkk", limit(1)), "100k 200b 200k 400k 200b 400k 400k", search.Result{State: search.Unsteady, Low: 100e6},
		},
		"a min that is breached as often as it is kept": {outcomes("bkk", limit(1)), "100b 100k 100k 200b 141.4b 118.9b 109b 104.4b 102.1b 103b 103b 100b",
			search.Result{State: search.Unsteady, High: 102.1e6}},
		"a breach that does not come again, and no limit": {
			outcomes("kbkkk", limit(1e15)), "100k 200b 200k 400k 200k 800k 1600k 3200k 6400k 12800k 25600k 51200k 100000k 100000k",
			search.Result{State: search.BeyondMax, Low: 100_000e6},
		},
		"a doubtful probe is tried again": {outcomes("kukuub", limit(300e6)),
			"100k 200u 200k 400u 400u 400b 400b 282.8k 336.3b 308.3b 295.2k 301.6b 304.2b 304.2b 289.8k 289.8k",
			search.Result{State: search.Found, Low: 289.8e6, High: 304.2e6}},
		"a probe stays doubtful": {outcomes("kkuuu", limit(1)), "100k 200k 400u 400u 400u", search.Result{State: search.StillUnclear, Low: 200e6}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			probes, result := run(t, rates, tc.target)
			same.As(t, "probes", tc.want, story(probes))
			same.As(t, "result", tc.result, result)
		})
	}
}

// Of a target that always answers the same, the interval contains the limit, is as
// narrow as it is to be, and both its ends were probed twice.
func TestAnyLimitIsFound(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	most := 0
	for range 20_000 {
		r := anyRange(random)
		truth := between(random, r.Min, r.Max)
		probes, result := run(t, r, limit(truth))
		most = max(most, len(probes))
		switch {
		case truth == r.Max:
			if result.State != search.BeyondMax || result.Low != r.Max {
				t.Fatalf("%+v: %+v, and the limit is %d", r, result, truth)
			}
			continue
		case result.State != search.Found || truth < result.Low || truth >= result.High:
			t.Fatalf("%+v: %+v, and the limit is %d; probes %v", r, result, truth, probes)
		case float64(result.High) > float64(result.Low)*(1+r.Precision) && result.High-result.Low > 1:
			t.Fatalf("%+v: %d to %d is too wide", r, result.Low, result.High)
		}
		if probes[len(probes)-1].Load != result.Low || times(probes, result.Low) < 2 || times(probes, result.High) < 2 {
			t.Fatalf("the ends %d and %d are not confirmed: %v", result.Low, result.High, probes)
		}
	}
	t.Logf("at most %d probes", most)
}

// Whatever a target answers, a search ends, and its interval has nothing on its wrong
// side that its own probes do not outvote.
func TestAnyOutcomesEnd(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 2))
	for range 20_000 {
		r, breaks, unclear := anyRange(random), random.Float64(), random.Float64()/3
		probes, result := run(t, r, func(int64) search.Outcome {
			switch {
			case random.Float64() < unclear:
				return search.Unclear
			case random.Float64() < breaks:
				return search.Breached
			}
			return search.Kept
		})
		kept, breached := map[int64]int{}, map[int64]int{}
		for _, p := range probes {
			switch p.Outcome {
			case search.Kept:
				kept[p.Load]++
			case search.Breached:
				breached[p.Load]++
			}
		}
		for load, n := range breached {
			if result.State == search.Found && load <= result.Low && kept[load] < 2*n {
				t.Fatalf("%+v: load %d was breached: %v", result, load, probes)
			}
		}
		for load, n := range kept {
			if result.State == search.Found && load >= result.High && breached[load] < 2*n && result.High != r.Max {
				t.Fatalf("%+v: load %d was kept: %v", result, load, probes)
			}
		}
		if result.State == search.Found && float64(result.High) > float64(result.Low)*(1+r.Precision) &&
			(breached[result.Low+1] == 0 || kept[result.High-1] == 0 && result.High != r.Max) {
			t.Fatalf("%+v is too wide, and there was more to probe: %v", result, probes)
		}
	}
}

// A breach that comes once, at any probe, does not hide the limit.
func TestABreachThatComesOnce(t *testing.T) {
	random, r := rand.New(rand.NewPCG(3, 3)), rates
	r.Max = r.Min * 16
	for n := range 14 {
		for range 200 {
			truth, count := between(random, r.Min*2, r.Max/2), 0
			probes, result := run(t, r, func(load int64) search.Outcome {
				if count++; count == n+1 {
					return search.Breached
				}
				return limit(truth)(load)
			})
			if result.State != search.Found || truth < result.Low || truth >= result.High {
				t.Fatalf("breach at probe %d, limit %v: %+v after %s", n+1, float64(truth)/1e6, result, story(probes))
			}
		}
	}
}

// Searches of targets that answer by chance near their limit, seldom elsewhere, and sometimes say
// nothing: each line has what was probed, and held, and the result.
func TestSearchesOfUncertainTargets(t *testing.T) {
	random, names := rand.New(rand.NewPCG(8, 8)), []string{"searching", "found", "beyond max", "below min", "unclear", "unsteady", "exhausted"}
	var lines strings.Builder
	for n := range 120 {
		r, unit := rates, 1e6
		r.Max, r.Precision, r.Holds = r.Min*int64(1+random.IntN(40))+3e6, []float64{0.02, 0.05, 0.1, 0.3}[random.IntN(4)], random.IntN(4)
		if r.MaxProbes = 14 + random.IntN(11); n%5 == 0 {
			unit, r.Min, r.Max = 1, 1+random.Int64N(4), 5+random.Int64N(60)
		}
		truth, noise, unclear := between(random, r.Min*9/10, r.Max*11/10), random.Float64()*0.6, random.Float64()/20
		probes, result := []search.Probe(nil), r.Next(nil)
		for result.State == search.Searching {
			outcome, off := limit(truth)(result.Next), math.Abs(math.Log(float64(result.Next)/float64(truth)))
			switch x := random.Float64(); {
			case x < unclear:
				outcome = search.Unclear
			case x > 1-noise*math.Exp(-off/0.2)-noise/20:
				outcome = search.Kept + search.Breached - outcome
			}
			probes = append(probes, search.Probe{Load: result.Next, Outcome: outcome, Hold: result.Hold})
			result = r.Next(probes)
		}
		fmt.Fprintf(&lines, "%v to %v, by %v, with %d holds after %d probes: %s: %s from %v to %v\n", float64(r.Min)/unit, float64(r.Max)/unit,
			r.Precision, r.Holds, r.MaxProbes, storyIn(unit, probes), names[result.State], float64(result.Low)/unit, float64(result.High)/unit)
	}
	golden.Check(t, "testdata/searches.txt", lines.String())
}

// However few the probes are, the next load is at most a million times as large.
func TestTheLargestStep(t *testing.T) {
	r := search.Range{Min: 100e6, Max: 1e15, Precision: 0.05, MaxProbes: 3}
	if got := r.Next([]search.Probe{{Load: r.Min, Outcome: search.Kept}}); got.Next != 104_800_000e6 {
		t.Errorf("%+v", got)
	}
}

// A process that takes a search over goes on as the one before it would have.
func TestNextFollowsFromTheProbesAlone(t *testing.T) {
	probes, _ := run(t, rates, limit(7777e6))
	for i := range probes {
		if next := rates.Next(probes[:i]).Next; next != probes[i].Load {
			t.Errorf("probe %d has load %d, and %d was sent", i, next, probes[i].Load)
		}
	}
}

// anyRange is a range of users or of rates.
func anyRange(random *rand.Rand) search.Range {
	most := 1e6
	if random.IntN(2) == 0 {
		most = 1e15
	}
	low := math.Floor(math.Pow(most/2, random.Float64()))
	high := math.Ceil(low + 1 + (most-low-1)*math.Pow(random.Float64(), 8))
	return search.Range{Min: int64(low), Max: int64(high), Precision: 0.01 + random.Float64()*0.49, MaxProbes: search.MaxProbes}
}

// between is a load, no order of magnitude of which is preferred.
func between(random *rand.Rand, low, high int64) int64 {
	x := float64(low) * math.Pow(float64(high)/float64(low), random.Float64())
	return min(max(int64(x), low), high)
}

func times(probes []search.Probe, load int64) int {
	n := 0
	for _, p := range probes {
		if p.Load == load {
			n++
		}
	}
	return n
}
