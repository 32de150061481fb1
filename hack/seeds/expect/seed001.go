package expect

import (
	"math/big"

	"github.com/loadtest-dev/loadtest-operator/controllers/judge/statistics"
)

func seed001() []Expectation {
	const test = "sharded-reads"
	alone, four, clicks := side{"One replica", "001-1-worker", test, 1}, side{"four", "001-4-workers", test, 1}, side{"with clicks through the broker", "001-clicks", test, 1}
	return []Expectation{
		nothingLost("001", "001-clicks"),
		{"001-no-five-times", []string{"001-1-worker", "001-4-workers"}, "Four replicas have less than 5.47 times the goodput of one, the published gain: four cannot have more than four times as much.", "They certainly have at least 5.47 times as much.", func(e *evidence) (string, statistics.Answer) {
			c, ok := e.change("goodput", alone, four)
			if !ok {
				return e.says("goodput", alone, four), statistics.Unsure
			}
			return e.says("goodput", alone, four), c.AtMost(big.NewRat(547, 100))
		}},
		{"001-replicas-help", []string{"001-1-worker", "001-4-workers"}, "Four replicas, each with its share of a core, have more goodput than one.", "One certainly has as much as four.", func(e *evidence) (string, statistics.Answer) {
			one4, fours := side{"One", "001-1-worker", test, 1}, side{"of four", "001-4-workers", test, 1}
			return "Goodput: " + e.says("goodput", one4, fours), e.more("goodput", alone, four, one)
		}},
		{"001-clicks-cost", []string{"001-4-workers", "001-clicks"}, "Counting clicks is not free: redirects have less goodput with it.", "They certainly have no less.", func(e *evidence) (string, statistics.Answer) {
			off := side{"Without", "001-4-workers", test, 1}
			return e.says("goodput", off, clicks), e.more("goodput", clicks, off, one)
		}},
		{"001-shards-are-not-linear", []string{"001-1-shard", "001-3-shards"}, "Three shards are not three times as fast as one: both without a cache, they have less than 1.5 times its goodput.", "They certainly have at least 1.5 times as much.", func(e *evidence) (string, statistics.Answer) {
			single, three := side{"One shard", "001-1-shard", test, 1}, side{"three", "001-3-shards", test, 1}
			c, ok := e.change("goodput", single, three)
			if !ok {
				return e.says("goodput", single, three), statistics.Unsure
			}
			return e.says("goodput", single, three), c.AtMost(big.NewRat(3, 2))
		}},
		{"001-cache-is-faster", []string{"001-3-shards", "001-4-workers"}, "With a warm cache a redirect is faster than without one, as published (400 ms and 38 ms): by p50.", "The p50 with a cache is certainly no less.", func(e *evidence) (string, statistics.Answer) {
			cold, warm := side{"Without a cache", "001-3-shards", test, 1}, side{"with one", "001-4-workers", test, 1}
			return e.says("p50", cold, warm), e.more("p50", warm, cold, one)
		}},
		{"001-sustained-lasts", []string{"001-sustained"}, "A tenth of the published mean of 1,200 requests a second is sustained: 99 % of what is due is answered.", "In any repetition less is.", func(e *evidence) (string, statistics.Answer) {
			sustained := side{"Goodput", "001-sustained", "sharded-sustained", 1}
			return e.says("goodput", sustained), e.each("lostShare", 0, lostShare, sustained)
		}},
	}
}
