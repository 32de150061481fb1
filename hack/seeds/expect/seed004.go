package expect

import (
	"fmt"
	"slices"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/statistics"
	"github.com/loadtest-dev/loadtest-operator/hack/seeds/record"
)

// A second's refill of the limiter.
const refill = 10

const (
	burst, clients, steady = "single-client-burst", "five-clients", "burst-then-steady"
)

// scenarios are all of them.
var scenarios = []string{burst, clients, steady}

// Expectations about grants hold whatever the machine did: the audit counts by the time
// that passed.
func seed004() []Expectation {
	quick := func(label, name string) side { return side{label, name, burst, 1} }
	return []Expectation{
		{"004-hash-is-failed", []string{"004-hash"}, "The hash breaks its contract in the burst of one client, and the verdict is Failed.", "No repetition grants more than the contract, or the verdict is another.", func(e *evidence) (string, statistics.Answer) {
			lt := e.Results["004-hash"].LoadTest(burst)
			return text("%s: in a burst %s granted, %s beyond the contract.", lt.Status.Verdict, counted(lt, "granted"), counted(lt, "overLimit")),
				yes(lt.Status.Verdict == v1beta1.VerdictFailed && e.sum("overLimit", "004-hash", burst) > 0)
		}},
		{"004-lua-is-passed", []string{"004-lua"}, "The Lua script passes all three scenarios.", "One of the three verdicts is Failed.", func(e *evidence) (string, statistics.Answer) {
			passed, answer := 0, statistics.Yes
			for i := range e.Results["004-lua"].LoadTests {
				switch e.Results["004-lua"].LoadTests[i].Status.Verdict {
				case v1beta1.VerdictPassed:
					passed++
				case v1beta1.VerdictFailed:
					answer = statistics.No
				default:
					answer = both(answer, statistics.Unsure)
				}
			}
			return text("%d of %d Passed.", passed, len(e.Results["004-lua"].LoadTests)), answer
		}},
		{"004-65-is-exact", []string{"004-lua"}, "65 grants in burst then steady are exact, not conservative: no denial was false.", "A denial is false, or a grant beyond the contract, in any repetition.", func(e *evidence) (string, statistics.Answer) {
			lt := e.Results["004-lua"].LoadTest(steady)
			return text("In a repetition %s granted, %s denied falsely.", counted(lt, "granted"), counted(lt, "falseDenials")),
				yes(e.sum("falseDenials", "004-lua", steady)+e.sum("overLimit", "004-lua", steady) == 0)
		}},
		{"004-transaction-grants-no-more", []string{"004-transaction"}, "The transaction grants nothing beyond the contract, and denies nothing falsely: what it gives up ends as 503.", "It does either in any repetition of any scenario.", func(e *evidence) (string, statistics.Answer) {
			over, denied := e.sum("overLimit", "004-transaction", scenarios...), e.sum("falseDenials", "004-transaction", scenarios...)
			return text("In all repetitions %.0f beyond the contract, %.0f false denials, %.0f answered 503.", over, denied, e.sum("serverErrors", "004-transaction", scenarios...)), yes(over+denied == 0)
		}},
		{"004-published-transaction-denies-falsely", []string{"004-transaction-429"}, "As published, answering 429 when it gives up, the transaction denies clients that have tokens.", "No repetition of any scenario has a false denial, or one has a grant beyond the contract.", func(e *evidence) (string, statistics.Answer) {
			over, denied := e.sum("overLimit", "004-transaction-429", scenarios...), e.sum("falseDenials", "004-transaction-429", scenarios...)
			return text("In all repetitions %.0f false denials, %.0f grants beyond the contract.", denied, over), yes(denied > 0 && over == 0)
		}},
		{"004-whole-seconds-grant-a-refill", []string{"004-lua-seconds"}, "With a clock of whole seconds no scenario is granted more than a second's refill beyond the contract.", "A repetition of a scenario is granted more.", func(e *evidence) (string, statistics.Answer) {
			most := 0.0
			for _, test := range scenarios {
				list, _ := record.Whole(e.Results["004-lua-seconds"].LoadTest(test)).Values(record.Figures["overLimit"])
				most = slices.Max(append(list, most))
			}
			return text("At most %.0f beyond it in a scenario; a second refills %d.", most, refill), yes(most <= refill)
		}},
		{"004-lua-is-faster-than-hash", []string{"004-hash", "004-lua"}, "Lua has the higher throughput in the burst, as published (16 %): one way to Redis instead of three.", "Its throughput is certainly no higher.", func(e *evidence) (string, statistics.Answer) {
			return e.says("throughput", quick("Hash", "004-hash"), quick("Lua", "004-lua")), e.more("throughput", quick("", "004-hash"), quick("", "004-lua"), one)
		}},
		{"004-transaction-is-slower", []string{"004-lua", "004-transaction-429"}, "The transaction takes longer than Lua in the burst, as published: by p95.", "Its p95 is certainly no more.", func(e *evidence) (string, statistics.Answer) {
			return e.says("p95", quick("Lua", "004-lua"), quick("the transaction", "004-transaction-429")), e.more("p95", quick("", "004-lua"), quick("", "004-transaction-429"), one)
		}},
	}
}

// counted is a count of the whole of a scenario.
func counted(lt *v1beta1.LoadTest, figure string) string {
	return record.Whole(lt).Text(record.Figures[figure])
}

func text(format string, args ...any) string { return fmt.Sprintf(format, args...) }
