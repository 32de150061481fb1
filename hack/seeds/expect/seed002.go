package expect

import (
	"math"

	"github.com/loadtest-dev/loadtest-operator/controllers/judge/statistics"
	"github.com/loadtest-dev/loadtest-operator/hack/seeds/record"
)

func seed002() []Expectation {
	const test = "flask-users"
	about := []string{"002-v01", "002-v02", "002-v03"}
	const largest = 4 // rung
	at := func(label, name string) side { return side{label, name, test, largest} }
	return []Expectation{
		nothingLost("002", about...),
		{"002-nothing-hangs", about, "No request is left without an outcome, where the published runs lost one of each user.", "A request of any repetition is unfinished.", func(e *evidence) (string, statistics.Answer) {
			unfinished := int64(0)
			for _, name := range about {
				for _, rung := range record.Rungs(e.Results[name].LoadTest(test)) {
					for _, step := range rung.Repetitions {
						unfinished += step.Result.Outcomes.Unfinished
					}
				}
			}
			return text("%d requests were unfinished.", unfinished), yes(unfinished == 0)
		}},
		{"002-no-ceiling", []string{"002-v01"}, "There is no ceiling of 400 requests a second, here 40: the users that stand for 200 have at least twice that.", "They have less in any repetition.", func(e *evidence) (string, statistics.Answer) {
			all := at("With the largest rung", "002-v01")
			return e.says("goodput", all), e.each("goodput", 80, math.MaxFloat64, all)
		}},
		{"002-collisions-do-not-fail", []string{"002-v01"}, "With one worker nothing fails: the published failures were collisions of codes, not a lack of workers.", "A request of any repetition fails.", func(e *evidence) (string, statistics.Answer) {
			failed := e.sum("failed", "002-v01", test)
			return text("%.0f of %.0f failed.", failed, e.sum("sent", "002-v01", test)), yes(failed == 0)
		}},
		{"002-workers-are-faster", []string{"002-v01", "002-v02"}, "Four workers have a lower median than one at the largest rung, as published (47 %).", "Their median is certainly no less.", func(e *evidence) (string, statistics.Answer) {
			few, many := at("One worker", "002-v01"), at("four", "002-v02")
			return e.says("p50", few, many), e.more("p50", many, few, one)
		}},
		{"002-asynchronous-clicks-are-faster", []string{"002-v02", "002-v03"}, "A redirect that puts its click into a list in Redis is faster than one that stores it: by the median of the largest rung.", "Its median is certainly no less.", func(e *evidence) (string, statistics.Answer) {
			before, after := at("Stored before the answer", "002-v02"), at("through Redis", "002-v03")
			return e.says("redirectP50", before, after), e.more("redirectP50", after, before, one)
		}},
	}
}
