package expect

import (
	"fmt"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/hack/seeds/record"
	"github.com/loadtest-dev/loadtest-operator/text"
)

func seed000() []Expectation {
	return []Expectation{
		{"000-small-rungs-keep", []string{"000-v1"}, "V1 fails no write at the two smallest rungs, as published.", func(all record.Results) (string, bool) {
			rungs := rungsOf(all, "000-v1", "tiny-bitly-writes")
			failed := rungs[0].Result.Failed + rungs[1].Result.Failed
			return fmt.Sprintf("%d of %d writes failed.", failed, rungs[0].Result.Sent+rungs[1].Result.Sent), failed == 0
		}},
		{"000-unsent-is-shown", []string{"000-v1"}, "The largest rung of V1's writes is beyond the machine, and what could not be sent or answered is in the figures.", func(all record.Results) (string, bool) {
			rungs := rungsOf(all, "000-v1", "tiny-bitly-writes")
			r := rungs[len(rungs)-1].Result
			return fmt.Sprintf("With %d users %d were due, %s of them never sent; %d succeeded: goodput %s.", rungs[len(rungs)-1].Load.Users, r.Due,
				text.Percent(r.Unsent, r.Due), r.Expected, text.Rate(r.Goodput)), r.Expected < r.Due && r.Due == r.Sent+r.Unsent
		}},
		breaksBefore("000-v1-breaks-before-v3", "000-v1", "000-v3", "V1, with a connection to Postgres for each request, breaks before V3 behind PgBouncer: at fewer users, or at as many with less than half of its goodput."),
		breaksBefore("000-v1-breaks-before-pool", "000-v1", "000-v3-pool", "So it does before V3 as the code had it, with a pool in the process."),
		{"000-index-changes-nothing", []string{"000-v1", "000-v2"}, "V2's index changes nothing: V1 and V2 break at the same rung.", func(all record.Results) (string, bool) {
			one, two := broke(all, "000-v1"), broke(all, "000-v2")
			return fmt.Sprintf("V1 %s, V2 %s.", one, two), one.users == two.users
		}},
		{"000-cache-does-not-hurt", []string{"000-v3-pool", "000-v4"}, "Redis does not make reads worse: at the largest rung V4 has at least 90 % of the goodput of V3 with a pool.", func(all record.Results) (string, bool) {
			pool, cache := last(all, "000-v3-pool", "tiny-bitly-reads"), last(all, "000-v4", "tiny-bitly-reads")
			return fmt.Sprintf("V3 with a pool %s, V4 %s.", text.Rate(pool.Goodput), text.Rate(cache.Goodput)),
				record.Number(cache.Goodput) >= 0.9*record.Number(pool.Goodput)
		}},
	}
}

func rungsOf(all record.Results, name, test string) []*v1beta1.StepStatus {
	return record.Rungs(all[name].LoadTest(test))
}

func first(all record.Results, name, test string) *v1beta1.StepResult {
	return rungsOf(all, name, test)[0].Result
}

func last(all record.Results, name, test string) *v1beta1.StepResult {
	rungs := rungsOf(all, name, test)
	return rungs[len(rungs)-1].Result
}

// lostShare is the share of due requests without an expected response from which on a
// rung counts as broken.
const lostShare = 0.05

// breach is the first rung that is broken; users are 0 if none is.
type breach struct {
	users   int32
	share   string
	goodput float64
}

func (b breach) String() string {
	if b.users == 0 {
		return "keeps up at every rung"
	}
	return fmt.Sprintf("loses %s with %d users, at a goodput of %s", b.share, b.users, perSecond(b.goodput))
}

// before says that it breaks at fewer users than another. The rungs are far apart: of two
// that break at the same, the one that answers less than half as much comes before.
func (b breach) before(other breach) bool {
	switch {
	case b.users == 0:
		return false
	case other.users == b.users:
		return b.goodput < other.goodput/2
	}
	return other.users == 0 || b.users < other.users
}

// broke is the smallest rung of the reads at which too many of what was due got no
// expected response, whether it failed or could not be sent.
func broke(all record.Results, name string) breach {
	for _, step := range rungsOf(all, name, "tiny-bitly-reads") {
		lost := step.Result.Due - step.Result.Expected
		if float64(lost) > lostShare*float64(step.Result.Due) {
			return breach{step.Load.Users, text.Percent(lost, step.Result.Due), record.Number(step.Result.Goodput)}
		}
	}
	return breach{}
}

func breaksBefore(name, weak, strong, expected string) Expectation {
	return Expectation{name, []string{weak, strong}, expected, func(all record.Results) (string, bool) {
		a, b := broke(all, weak), broke(all, strong)
		return fmt.Sprintf("%s %s; %s %s.", weak, a, strong, b), a.before(b)
	}}
}
