package expect

import (
	"fmt"

	"github.com/loadtest-dev/loadtest-operator/controllers/judge/statistics"
)

// overTheOcean is the time of the published requests to their server and back, in seconds.
const overTheOcean = 0.250

func seed003() []Expectation {
	memory, more := side{"1 GB", "003-1gb", "events-batch-100", 1}, side{"2 GB", "003-2gb", "events-batch-100", 1}
	position := side{"The p50 of reads of a position", "003-1gb", "events-position", 1}
	return []Expectation{
		nothingLost("003", "003-1gb", "003-2gb", "003-delay"),
		{"003-batches-raise-events", []string{"003-1gb"}, "Larger batches store more events per second, from one event to 500.", "Of two sizes the larger certainly stores no more.", func(e *evidence) (string, statistics.Answer) {
			sizes := []side{{"Events per second by size: 1:", "003-1gb", "events-append", last}}
			answer := statistics.Yes
			for _, size := range []int{10, 100, 500} {
				next := side{fmt.Sprintf("%d:", size), "003-1gb", fmt.Sprintf("events-batch-%d", size), 1}
				answer = both(answer, e.more("items", sizes[len(sizes)-1], next, one))
				sizes = append(sizes, next)
			}
			return e.says("items", sizes...), answer
		}},
		{"003-memory-is-not-it", []string{"003-1gb", "003-2gb"}, "Twice the memory stores no more: the rates of 1 and 2 GB are the same within 20 %.", "One of them certainly stores more than 1.2 times as much.", func(e *evidence) (string, statistics.Answer) {
			return e.says("items", memory, more), e.alike("items", memory, more, nearly)
		}},
		{"003-no-ocean", []string{"003-1gb"}, "Without 250 ms of way, half of the reads of a position take less than 100 ms.", "The p50 is 100 ms or more in any repetition.", func(e *evidence) (string, statistics.Answer) {
			return e.says("p50", position), e.each("p50", 0, 0.1, position)
		}},
		{"003-the-way-is-the-limit", []string{"003-delay"}, "With 250 ms in front reads of a position are what connections carry over that way, as published: 70 to 100 % of the connections divided by 250 ms.", "The rate of any repetition is outside these bounds.", func(e *evidence) (string, statistics.Answer) {
			far := side{"Reads of a position", "003-delay", "events-position", 1}
			most := float64(e.rung(far).Load.Users) / overTheOcean
			return fmt.Sprintf("%s %.0f connections carry at most %.0f/s.", e.says("throughput", far), most*overTheOcean, most), e.each("throughput", 0.7*most, most, far)
		}},
		{"003-the-rate-lasts", []string{"003-1gb"}, "The rate of batches of 100 lasts: the optimal and the sustained test have the same within 20 %.", "One of them certainly has more than 1.2 times the rate of the other.", func(e *evidence) (string, statistics.Answer) {
			brief, long := side{"Optimal", "003-1gb", "events-optimal", 1}, side{"sustained", "003-1gb", "events-batch-100", 1}
			return e.says("items", brief, long), e.alike("items", brief, long, nearly)
		}},
	}
}
