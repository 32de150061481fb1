package expect

import (
	"fmt"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/hack/seeds/record"
	"github.com/loadtest-dev/loadtest-operator/text"
)

func seed002() []Expectation {
	const test = "flask-users"
	about := []string{"002-v01", "002-v02", "002-v03"}
	return []Expectation{
		{"002-nothing-hangs", about, "Load is sent to the end of every rung, and no request is left without an outcome.", func(all record.Results) (string, bool) {
			rungs, unfinished, cut := 0, int64(0), []string(nil)
			each(all, about, func(name string, lt *v1beta1.LoadTest) {
				for _, step := range record.Rungs(lt) {
					rungs, unfinished = rungs+1, unfinished+step.Result.Outcomes.Unfinished
					if step.State != v1beta1.StepComplete {
						cut = append(cut, name+" step "+step.Name)
					}
				}
			})
			return but(fmt.Sprintf("%d rungs were carried out to their end, with %d requests unfinished", rungs-len(cut), unfinished), cut), unfinished == 0 && len(cut) == 0
		}},
		{"002-no-ceiling", []string{"002-v01"}, "Goodput grows with the users: twice as many in the last rung have at least 1.5 times as much.", func(all record.Results) (string, bool) {
			rungs := rungsOf(all, "002-v01", test)
			before, after := rungs[len(rungs)-2], rungs[len(rungs)-1]
			return fmt.Sprintf("%d users %s, %d users %s.", before.Load.Users, text.Rate(before.Result.Goodput), after.Load.Users, text.Rate(after.Result.Goodput)),
				record.Number(after.Result.Goodput) >= 1.5*record.Number(before.Result.Goodput)
		}},
		{"002-collisions-do-not-fail", []string{"002-v01"}, "With one worker nothing fails: the published failures were collisions of codes, not a lack of workers.", func(all record.Results) (string, bool) {
			var sent, failed int64
			for _, step := range rungsOf(all, "002-v01", test) {
				sent, failed = sent+step.Result.Sent, failed+step.Result.Failed
			}
			return fmt.Sprintf("%d of %d failed.", failed, sent), failed == 0
		}},
		{"002-asynchronous-clicks-are-faster", []string{"002-v02", "002-v03"}, "A redirect that puts its click into a list in Redis is faster than one that stores it: by the median of the largest rung.", func(all record.Results) (string, bool) {
			before, after := record.P50(last(all, "002-v02", test), "Redirect"), record.P50(last(all, "002-v03", test), "Redirect")
			return fmt.Sprintf("Stored before the answer %s, through Redis %s.", text.Short(before), text.Short(after)), after > 0 && after < before
		}},
	}
}
