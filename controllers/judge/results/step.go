package results

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/metric"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// The bounds that the API puts on what comes from a worker.
const (
	maxErrorMessage = 256
	maxTransport    = 64
	maxEngine       = 64
	maxStatusCodes  = 8
)

// StepResult is what the status says of a running step whose measurements, of all
// workers, are merged: what has no outcome yet is in flight. Settle ends it.
//
// silence is for how long before the step's start the run has certainly sent
// nothing: it says how far the buckets of a rate limiter have refilled. It is
// negative when the measurement is not whole (a worker was lost, and with it
// what it sent): false denials are not claimed then, since the missing requests
// may have taken the tokens.
func StepResult(lt *v1beta1.LoadTest, step *v1beta1.StepStatus, merged *measure.Measurement, silence time.Duration) (*v1beta1.StepResult, error) {
	spec := &lt.Spec
	if n := len(merged.Requests); n != len(spec.Requests) || n != len(lt.Status.Requests) {
		return nil, fmt.Errorf("step %s: measured %d requests, the spec has %d and the status %d", step.Name, n, len(spec.Requests), len(lt.Status.Requests))
	}
	total, err := merged.Total()
	if err != nil {
		return nil, fmt.Errorf("step %s: %w", step.Name, err)
	}
	types, err := typeResults(lt, merged)
	if err != nil {
		return nil, fmt.Errorf("step %s: %w", step.Name, err)
	}
	requests, err := requestResults(lt, merged)
	if err != nil {
		return nil, fmt.Errorf("step %s: %w", step.Name, err)
	}
	journeys, err := journeyResults(spec, &step.Load, merged)
	if err != nil {
		return nil, fmt.Errorf("step %s: %w", step.Name, err)
	}
	result := &v1beta1.StepResult{
		Counts:         counts(&total),
		Due:            merged.Due,
		Unsent:         merged.Unsent,
		Late:           total.Late,
		Throughput:     perSecond(v1beta1.MetricThroughput, &total, 0, merged.Window),
		Goodput:        perSecond(v1beta1.MetricGoodput, &total, 0, merged.Window),
		ItemsPerSecond: itemsPerSecond(spec, merged, &total),
		ResponseTime:   latency(total.Response),
		ServiceTime:    latency(total.Service),
		Types:          types,
		Requests:       requests,
		Journeys:       journeys,
		Sessions:       sessions(&step.Load, merged),
		OnTime:         onTime(spec, &total),
		Transport:      text.Truncate(merged.Transport, maxTransport),
		Generator:      generator(newFleet(lt.Status.Workers.Desired, step), step, merged, &total),
		Traces:         traces(lt, merged, &total),
	}
	result.Outstanding, result.Replay = outstanding(&step.Load, merged), replay(&step.Load, merged)
	result.UnsentWithoutRoom, result.UnsentByGenerator = merged.UnsentWithoutRoom, merged.UnsentByGenerator
	result.Displaced, result.Undecided, result.Excused = total.Displaced, total.Undecided, total.Excused
	result.Redirects, result.Streams = total.Redirects, streams(spec, &total, merged.Window)
	if d, ok := DowntimeOf(&step.Load, merged); ok {
		result.Downtime = d.percent()
	}
	result.ExpectedResponseTime, result.ExpectedServiceTime = expectedTimes(&total)
	addIdeal(result, &total)
	result.LateTogether = lateTogether(merged.Lateness)
	if total.Response.Count() > 0 {
		if result.Histogram, err = total.Response.Encode(); err != nil {
			return nil, fmt.Errorf("step %s: %w", step.Name, err)
		}
	}
	// The ledgers come with the last snapshots: a running step is not audited.
	if spec.RateLimit() != nil && merged.Clients != nil {
		if result.RateLimit, err = rateLimit(spec, merged, &total, silence); err != nil {
			return nil, fmt.Errorf("step %s: %w", step.Name, err)
		}
	}
	return result, nil
}

// Settle counts what is in flight at the end of a step as unfinished, and so as
// failed.
func Settle(r *v1beta1.StepResult) {
	settle(&r.Counts)
	for i := range r.Types {
		settle(&r.Types[i].Counts)
	}
	for i := range r.Requests {
		settle(&r.Requests[i].Counts)
	}
}

func settle(c *v1beta1.Counts) {
	c.Outcomes.Unfinished += c.InFlight
	c.Failed += c.InFlight
	c.InFlight = 0
}

func counts(r *measure.Request) v1beta1.Counts {
	o := &r.Outcomes
	inFlight := o[measure.Unfinished]
	return v1beta1.Counts{
		Sent:      r.Sent,
		Completed: r.Completed(),
		Expected:  r.Expected,
		Failed:    r.Sent - inFlight - r.Expected,
		InFlight:  inFlight,
		Outcomes: v1beta1.Outcomes{
			Success:          o[measure.Success],
			RateLimited:      o[measure.RateLimited],
			ClientError:      o[measure.ClientError],
			ServerError:      o[measure.ServerError],
			UnexpectedStatus: o[measure.UnexpectedStatus],
			Timeout:          o[measure.Timeout],
			Refused:          o[measure.Refused],
			Reset:            o[measure.Reset],
			DNS:              o[measure.DNS],
			TLS:              o[measure.TLS],
			BadResponse:      o[measure.BadResponse],
			Other:            o[measure.Other],
			BrokenOff:        o[measure.BrokenOff],
			Stalled:          o[measure.Stalled],
			EndedEarly:       o[measure.EndedEarly],
		},
		StatusCodes: statusCodes(r.StatusCodes),
	}
}

// statusCodes are the codes that came most often, in their order; of codes that came
// as often the lower ones.
func statusCodes(codes measure.StatusCodes) []v1beta1.StatusCodeCount {
	byCode := func(a, b v1beta1.StatusCodeCount) int { return cmp.Compare(a.Code, b.Code) }
	var list []v1beta1.StatusCodeCount
	for code, n := range codes {
		list = append(list, v1beta1.StatusCodeCount{Code: int32(code), Count: n})
	}
	slices.SortFunc(list, func(a, b v1beta1.StatusCodeCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), byCode(a, b))
	})
	list = list[:min(len(list), maxStatusCodes)]
	slices.SortFunc(list, byCode)
	return list
}

// perSecond is a metric that is counted per second, of up to seven digits, at least one of them
// behind the point; "" without a window. It is exact until it is rounded, which must not be by
// so much that a comparison of two rates says something else: they are judged as they stand here.
func perSecond(name v1beta1.Metric, total *measure.Request, items int64, window time.Duration) string {
	if window <= 0 {
		return ""
	}
	rate := new(big.Rat).SetFrac(
		new(big.Int).Mul(big.NewInt(metric.InWindow(name, total, items)), big.NewInt(int64(time.Second))),
		big.NewInt(int64(window)))
	const digits = 7
	return trimmed(rate.FloatString(max(1, digits-len(rate.FloatString(0)))))
}

// trimmed is a number without the zeros at its end, but for one behind the point.
func trimmed(number string) string {
	number = strings.TrimRight(number, "0")
	if strings.HasSuffix(number, ".") {
		number += "0"
	}
	return number
}

// itemsPerSecond is of the successes, as goodput is. "": every request carries one item, and it
// is the goodput.
func itemsPerSecond(spec *v1beta1.LoadTestSpec, merged *measure.Measurement, total *measure.Request) string {
	var sum int64
	many := false
	for i, items := range plan.RequestItems(spec) {
		sum += items * merged.Requests[i].ExpectedInWindow
		many = many || items > 1
	}
	if !many {
		return ""
	}
	return perSecond(v1beta1.MetricItemsPerSecond, total, sum, merged.Window)
}
