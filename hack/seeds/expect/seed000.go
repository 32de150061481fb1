package expect

import (
	"fmt"

	"github.com/loadtest-dev/loadtest-operator/controllers/judge/statistics"
	"github.com/loadtest-dev/loadtest-operator/hack/seeds/record"
)

func seed000() []Expectation {
	const writes = "tiny-bitly-writes"
	first, second := side{"V1 with the fewest users", "000-v1", writes, 1}, side{"with ten times as many", "000-v1", writes, 2}
	thousand, most := side{"With the users that stand for 10,000", "000-v1", writes, 3}, side{"with those that stand for 100,000", "000-v1", writes, last}
	return []Expectation{
		nothingLost("000", "000-v1", "000-v2", "000-v3", "000-v3-pool", "000-v4"),
		{"000-small-rungs-keep", []string{"000-v1"}, "V1 fails no write at the two smallest rungs, as published.", "A write fails in any repetition of them.", func(e *evidence) (string, statistics.Answer) {
			return e.says("failed", first, second), e.each("failed", 0, 0, first, second)
		}},
		{"000-unsent-is-shown", []string{"000-v1"}, "With the users that stand for the published 10,000, V1 does not answer all writes that are due: what is not sent counts, too.", "In any repetition less than 1 % of what is due lacks an expected answer.", func(e *evidence) (string, statistics.Answer) {
			return fmt.Sprintf("%s Of what was due without an expected answer %s", e.says("unsentShare", side{"Unsent", thousand.experiment, writes, 3}), e.says("lostShare", side{"in all", thousand.experiment, writes, 3})),
				e.each("lostShare", lostShare, 1, thousand)
		}},
		{"000-collapse-is-shown", []string{"000-v1"}, "With the users that stand for 100,000, V1 has less goodput than with those that stand for 10,000, whatever rate was published.", "The goodput of the larger rung is certainly not less.", func(e *evidence) (string, statistics.Answer) {
			return e.says("goodput", thousand, most), e.more("goodput", most, thousand, one)
		}},
		breaksBefore("000-v1-breaks-before-v3", side{"V3 behind PgBouncer", "000-v3", reads, 0}),
		breaksBefore("000-v1-breaks-before-pool", side{"V3 with a pool in the process", "000-v3-pool", reads, 0}),
		{"000-index-changes-nothing", []string{"000-v1", "000-v2"}, "V2's index changes nothing: at the rung at which V1 breaks both have the same goodput within 20 %.", "One of them certainly has more than 1.2 times the goodput of the other.", func(e *evidence) (string, statistics.Answer) {
			rung := broke(e.Results, "000-v1")
			v1, v2 := side{"V1", "000-v1", reads, rung}, side{"V2", "000-v2", reads, rung}
			return e.says("goodput", v1, v2), e.alike("goodput", v1, v2, nearly)
		}},
		faster("000-cache-is-faster-at-100", "100", "Redis makes reads faster with the users that stand for 100, as published (60 %): by p95.", 1),
		faster("000-cache-is-faster-at-1000", "1,000", "Redis makes reads faster with the users that stand for 1,000, as published (24 %): by p95.", 2),
		faster("000-cache-is-faster-at-25000", "25,000", "Redis is no bottleneck with the users that stand for 25,000, where 7 % slower was published: it is faster there, too.", 4),
		{"000-cache-does-not-hurt", []string{"000-v3-pool", "000-v4"}, "Redis costs no goodput: at the largest rung V4 has at least 1/1.2 of the goodput of V3 with a pool.", "It certainly has less.", func(e *evidence) (string, statistics.Answer) {
			pool, cache := side{"V3 with a pool", "000-v3-pool", reads, last}, side{"V4", "000-v4", reads, last}
			c, ok := e.change("goodput", cache, pool)
			if !ok {
				return e.says("goodput", pool, cache), statistics.Unsure
			}
			return e.says("goodput", pool, cache), c.AtMost(nearly)
		}},
		{"000-more-users-are-not-faster", []string{"000-v3"}, "V3 behind PgBouncer answers no faster with more users: by p95 of the two largest rungs.", "The p95 of the larger rung is certainly less.", func(e *evidence) (string, statistics.Answer) {
			before, after := side{"With the users that stand for 10,000", "000-v3", reads, 3}, side{"with those that stand for 25,000", "000-v3", reads, 4}
			c, ok := e.change("p95", before, after)
			if !ok {
				return e.says("p95", before, after), statistics.Unsure
			}
			return e.says("p95", before, after), c.AtLeast(one)
		}},
	}
}

const reads = "tiny-bitly-reads"

// lostShare is the share of due requests without an expected response beyond which a rung
// counts as broken: the default threshold of a LoadTest.
const lostShare = 0.01

// broke is the first rung of the reads at which more than lostShare of what was due got no
// expected response in the median, or the last if there is none.
func broke(all record.Results, name string) int {
	rungs := record.Rungs(all[name].LoadTest(reads))
	for i, rung := range rungs {
		if s, ok := rung.Spread(record.Figures["lostShare"]); ok && s.Median > lostShare {
			return i + 1
		}
	}
	return len(rungs)
}

func breaksBefore(name string, strong side) Expectation {
	return Expectation{name, []string{"000-v1", strong.experiment}, "V1, with a connection to Postgres for each request, breaks before " + strong.label + ": where V1 begins to lose more than 1 % of what is due, it has less goodput.",
		"V1 loses no more than 1 % at any rung, or certainly has no less goodput where it does.", func(e *evidence) (string, statistics.Answer) {
			rung := broke(e.Results, "000-v1")
			weak := side{"V1", "000-v1", reads, rung}
			strong.rung = rung
			found := fmt.Sprintf("At rung %d: %s", rung, e.says("goodput", weak, strong))
			if s, ok := e.rung(weak).Spread(record.Figures["lostShare"]); !ok || s.Median <= lostShare {
				e.rest(weak)
				return "V1 keeps up at every rung. " + found, statistics.No
			}
			return found, e.more("goodput", weak, strong, one)
		}}
}

// faster expects V4 to answer faster than V3 with a pool at a rung.
func faster(name, users, expected string, rung int) Expectation {
	return Expectation{name, []string{"000-v3-pool", "000-v4"}, expected, "With the users that stand for " + users + " the p95 of V4 is certainly no less than that of V3 with a pool.", func(e *evidence) (string, statistics.Answer) {
		pool, cache := side{"V3 with a pool", "000-v3-pool", reads, rung}, side{"V4", "000-v4", reads, rung}
		return e.says("p95", pool, cache), e.more("p95", cache, pool, one)
	}}
}
