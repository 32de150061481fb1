package expect

import (
	"fmt"

	"github.com/loadtest-dev/loadtest-operator/hack/seeds/record"
	"github.com/loadtest-dev/loadtest-operator/text"
)

func seed001() []Expectation {
	const test = "sharded-reads"
	return []Expectation{
		{"001-replicas-are-not-cores", []string{"001-1-worker", "001-4-workers"}, "Four replicas have less than twice the goodput of one: each of them uses every core already.", func(all record.Results) (string, bool) {
			one, four := first(all, "001-1-worker", test), first(all, "001-4-workers", test)
			return fmt.Sprintf("One replica %s, four %s.", text.Rate(one.Goodput), text.Rate(four.Goodput)),
				record.Number(four.Goodput) < 2*record.Number(one.Goodput)
		}},
		{"001-clicks-cost", []string{"001-4-workers", "001-clicks"}, "Counting clicks is not free: redirects have less goodput with it.", func(all record.Results) (string, bool) {
			off, on := first(all, "001-4-workers", test), first(all, "001-clicks", test)
			return fmt.Sprintf("Without %s, with clicks through the broker %s.", text.Rate(off.Goodput), text.Rate(on.Goodput)),
				record.Number(on.Goodput) < record.Number(off.Goodput)
		}},
		{"001-quantiles-of-all", []string{"001-4-workers"}, "The quantiles are of every request that ended, not of the last 10,000.", func(all record.Results) (string, bool) {
			r := first(all, "001-4-workers", test)
			return fmt.Sprintf("%d were sent, and the distribution has %d times.", r.Sent, r.ResponseTime.Samples), r.ResponseTime.Samples == r.Sent-r.Outcomes.Unfinished
		}},
	}
}
