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
		{"001-replicas-help", []string{"001-1-worker", "001-4-workers"}, "Four replicas of a core's share each have more goodput than one.", "One certainly has as much as four.", func(e *evidence) (string, statistics.Answer) {
			one4, fours := side{"One", "001-1-worker", test, 1}, side{"of four", "001-4-workers", test, 1}
			return "Goodput: " + e.says("goodput", one4, fours), e.more("goodput", alone, four, one)
		}},
		{"001-clicks-cost", []string{"001-4-workers", "001-clicks"}, "Counting clicks is not free: redirects have less goodput with it.", "They certainly have no less.", func(e *evidence) (string, statistics.Answer) {
			off := side{"Without", "001-4-workers", test, 1}
			return e.says("goodput", off, clicks), e.more("goodput", clicks, off, one)
		}},
	}
}
