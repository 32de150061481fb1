package expect

import (
	"fmt"
	"strings"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/hack/seeds/record"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// overTheOcean is the way of the published requests to their server and back.
const overTheOcean = 250 * time.Millisecond

func seed003() []Expectation {
	about := []string{"003-1gb", "003-2gb"}
	return []Expectation{
		{"003-batches-raise-events", []string{"003-1gb"}, "Larger batches store more events per second, from one event to 500.", func(all record.Results) (string, bool) {
			singles := rungsOf(all, "003-1gb", "events-append")
			rates := []float64{record.Items(singles[len(singles)-1].Result)}
			texts, rises := []string{"1: " + perSecond(rates[0])}, true
			for _, size := range []int{10, 100, 500} {
				rate := record.Items(first(all, "003-1gb", fmt.Sprintf("events-batch-%d", size)))
				rises = rises && rate > rates[len(rates)-1]
				rates, texts = append(rates, rate), append(texts, fmt.Sprintf("%d: %s", size, perSecond(rate)))
			}
			return "Events per second by size: " + strings.Join(texts, ", ") + ".", rises
		}},
		{"003-memory-is-not-it", about, "Twice the memory stores no more: the rates of 1 and 2 GB are within 20 %.", func(all record.Results) (string, bool) {
			one, two := record.Items(first(all, "003-1gb", "events-batch-100")), record.Items(first(all, "003-2gb", "events-batch-100"))
			return fmt.Sprintf("1 GB %s, 2 GB %s.", perSecond(one), perSecond(two)), one > 0 && two/one > 1/1.2 && two/one < 1.2
		}},
		{"003-no-ocean", []string{"003-1gb"}, "Without 250 ms of way, half of the reads of a position take less than 100 ms.", func(all record.Results) (string, bool) {
			p50 := record.P50(first(all, "003-1gb", "events-position"), "")
			return fmt.Sprintf("p50 is %s; %s were the way of the published ones.", text.Short(p50), overTheOcean), p50 > 0 && p50 < 100*time.Millisecond
		}},
		{"003-quantiles-in-order", about, "Quantiles rise, and no mean is above the 99th percentile by more than the longest time explains.", func(all record.Results) (string, bool) {
			steps, wrong := 0, []string(nil)
			each(all, about, func(name string, lt *v1beta1.LoadTest) {
				for _, step := range record.Rungs(lt) {
					steps++
					if !ordered(step.Result.ResponseTime) {
						wrong = append(wrong, name+" step "+step.Name)
					}
				}
			})
			return but(fmt.Sprintf("%d distributions are in order", steps-len(wrong)), wrong), len(wrong) == 0
		}},
	}
}

// ordered says whether a distribution can be one: its quantiles rise, and its mean is at
// most that of 99 % of times at p99 and 1 % at the longest.
func ordered(l *v1beta1.Latency) bool {
	if l == nil {
		return false
	}
	before := time.Duration(0)
	for _, q := range []time.Duration{record.Time(l.Min), record.Time(l.P50), record.Time(l.P75), record.Time(l.P90), record.Time(l.P95), record.Time(l.P99), record.Time(l.P999), record.Time(l.P9999), record.Time(l.Longest)} {
		if q == 0 {
			continue // too few samples
		}
		if q < before {
			return false
		}
		before = q
	}
	bound := record.Time(l.Longest)
	if l.P99 != nil {
		bound = time.Duration(0.99*float64(l.P99.Duration) + 0.011*float64(record.Time(l.Longest)))
	}
	return record.Time(l.Mean) <= bound
}

func perSecond(rate float64) string { return text.Rate(fmt.Sprintf("%.3f", rate)) }
