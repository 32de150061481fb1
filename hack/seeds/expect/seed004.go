package expect

import (
	"fmt"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/hack/seeds/record"
)

// A second's refill of the limiter, and its bucket.
const refill = 10

func seed004() []Expectation {
	return []Expectation{
		{"004-hash-is-failed", []string{"004-hash"}, "The hash breaks its contract in the burst of one client, and the verdict is Failed.", func(all record.Results) (string, bool) {
			lt := all["004-hash"].LoadTest("single-client-burst")
			a := Grants(lt)
			return fmt.Sprintf("%s: %d granted, %d of them beyond the contract.", lt.Status.Verdict, a.Granted, a.OverLimitGrants),
				lt.Status.Verdict == v1beta1.VerdictFailed && a.OverLimitGrants > 0
		}},
		{"004-lua-is-passed", []string{"004-lua"}, "The Lua script passes all three scenarios.", func(all record.Results) (string, bool) {
			passed := 0
			for i := range all["004-lua"].LoadTests {
				if all["004-lua"].LoadTests[i].Status.Verdict == v1beta1.VerdictPassed {
					passed++
				}
			}
			return fmt.Sprintf("%d of %d Passed.", passed, len(all["004-lua"].LoadTests)), passed == 3
		}},
		{"004-65-is-exact", []string{"004-lua"}, "65 grants in burst then steady are exact, not conservative: no denial was false.", func(all record.Results) (string, bool) {
			a := Grants(all["004-lua"].LoadTest("burst-then-steady"))
			return fmt.Sprintf("%d granted, %d false denials.", a.Granted, a.FalseDenials), a.FalseDenials == 0 && a.OverLimitGrants == 0
		}},
		{"004-transaction-grants-no-more", []string{"004-transaction"}, "The transaction grants nothing beyond the contract, and denies nothing falsely: what it gives up ends as 503.", func(all record.Results) (string, bool) {
			sum := grantsOf(all, "004-transaction")
			var gaveUp int64
			each(all, []string{"004-transaction"}, func(_ string, lt *v1beta1.LoadTest) {
				for _, step := range record.Rungs(lt) {
					gaveUp += step.Result.Outcomes.ServerError
				}
			})
			return fmt.Sprintf("%d beyond the contract, %d false denials, %d answered 503.", sum.OverLimitGrants, sum.FalseDenials, gaveUp), sum.OverLimitGrants == 0 && sum.FalseDenials == 0
		}},
		{"004-published-transaction-denies-falsely", []string{"004-transaction-429"}, "As published, answering 429 when it gives up, the transaction denies clients that have tokens.", func(all record.Results) (string, bool) {
			sum := grantsOf(all, "004-transaction-429")
			return fmt.Sprintf("%d false denials, %d grants beyond the contract.", sum.FalseDenials, sum.OverLimitGrants), sum.FalseDenials > 0 && sum.OverLimitGrants == 0
		}},
		{"004-whole-seconds-grant-a-refill", []string{"004-lua-seconds"}, "With a clock of whole seconds no scenario is granted more than a second's refill beyond the contract.", func(all record.Results) (string, bool) {
			most := int64(0)
			each(all, []string{"004-lua-seconds"}, func(_ string, lt *v1beta1.LoadTest) { most = max(most, Grants(lt).OverLimitGrants) })
			return fmt.Sprintf("At most %d beyond it in a scenario; a second refills %d.", most, refill), most <= refill
		}},
	}
}

// Grants adds up the audit of all steps.
func Grants(lt *v1beta1.LoadTest) v1beta1.RateLimitStatus {
	var sum v1beta1.RateLimitStatus
	for _, step := range record.Rungs(lt) {
		if a := step.Result.RateLimit; a != nil {
			sum.Granted += a.Granted
			sum.Denied += a.Denied
			sum.OverLimitGrants += a.OverLimitGrants
			sum.FalseDenials += a.FalseDenials
			sum.Untracked += a.Untracked
		}
	}
	return sum
}

// grantsOf adds up the audits of all scenarios.
func grantsOf(all record.Results, name string) v1beta1.RateLimitStatus {
	var sum v1beta1.RateLimitStatus
	each(all, []string{name}, func(_ string, lt *v1beta1.LoadTest) {
		a := Grants(lt)
		sum.OverLimitGrants += a.OverLimitGrants
		sum.FalseDenials += a.FalseDenials
	})
	return sum
}
