package results

import (
	"math"
	"strconv"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/trend"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// outstanding is what was outstanding in a step; nil: it was not counted.
func outstanding(load *v1beta1.StepLoad, merged *measure.Measurement) *v1beta1.OutstandingResult {
	if merged.Timeline == nil || merged.Window <= 0 {
		return nil
	}
	measured, ideal, message := trendsOf(load, merged)
	result := &v1beta1.OutstandingResult{Mean: oneDigit(measured.Mean), Message: message}
	switch {
	case result.Message != "":
		result.Trend = v1beta1.OutstandingUnknown
		return result
	case measured.Trend != trend.Growing && ideal.Trend != trend.Growing:
		result.Trend = v1beta1.OutstandingSteady
		return result
	case measured.Trend == ideal.Trend:
		result.Trend = v1beta1.OutstandingGrowing
	default:
		result.Trend = v1beta1.OutstandingUncertain
	}
	result.Growth = growthText(grown(measured))
	if said := growthText(grown(ideal)); said != result.Growth {
		result.WithoutGenerator = said
	}
	return result
}

// trendsOf are the trends of what was outstanding in a step, as it was measured and without
// what the generator kept unsent, and why there is none to test, if so.
func trendsOf(load *v1beta1.StepLoad, merged *measure.Measurement) (measured, ideal trend.Outstanding, untestedFor string) {
	window := merged.Window // of a burst, what it took
	if load.Duration != nil {
		window = load.Duration.Duration // that of the timeline, also if the step was cut
	}
	settled := sessionsSettled(load, merged)
	measured = trend.Of(merged.Timeline, window, settled, merged.Due)
	ideal = trend.Of(withoutGenerator(merged), window, settled, merged.Due)
	return measured, ideal, untested(load, merged.Window < window*99/100, measured.Trend)
}

// sessionsSettled is when as many sessions end as begin, in the window: until then there are more and more of them, and
// so of their requests. 0 of any other load; the longest time there is if none was completed.
func sessionsSettled(load *v1beta1.StepLoad, merged *measure.Measurement) time.Duration {
	if load.Sessions == nil {
		return 0
	}
	longest := time.Duration(0)
	for i := range merged.Journeys {
		if j := &merged.Journeys[i]; j.Started > 0 {
			took, ok := j.Time.Quantile(0.9)
			if !ok {
				return math.MaxInt64
			}
			longest = max(longest, took)
		}
	}
	return longest - v1beta1.OrZero(load.WarmUp)
}

// withoutGenerator is the timeline without the requests that the generator alone kept
// unsent, as far as it is measured.
//
// What is due and unsent may wait for the generator, or for the target: for room on shared
// connections, or, of a user with a rate, for the response before. Which of them it is was
// measured of the requests that were still unsent when the step ended (UnsentByGenerator:
// of arrivals all that had room, of users those that a steady generator would have sent
// after the responses of the target). Of the others, the same part is taken: both delays
// pile up in the course of a step. If all were sent in the end, the target kept none for
// long, and all that were late are left out.
func withoutGenerator(merged *measure.Measurement) *measure.Timeline {
	part := 1.0
	if merged.Unsent > 0 {
		part = float64(merged.UnsentByGenerator) / float64(merged.Unsent)
	}
	line := *merged.Timeline
	for i, unsent := range line.Unsent {
		line.Outstanding[i] -= int64(part * float64(unsent))
	}
	return &line
}

// grown is by how many requests a second those grew that were outstanding; 0 if that is no
// more than chance.
func grown(o trend.Outstanding) float64 {
	if o.Trend != trend.Growing {
		return 0
	}
	return o.Growth
}

// Drift is by how many requests a second those grew that were outstanding in a step, and
// those without what the generator kept unsent; 0 if that is no more than chance. unknown is
// a sentence on why it is not known; empty: it is.
func Drift(load *v1beta1.StepLoad, merged *measure.Measurement) (perSecond, ideally float64, unknown string) {
	if merged.Timeline == nil || merged.Window <= 0 {
		return 0, 0, "A worker did not report the timeline of the step."
	}
	measured, ideal, unknown := trendsOf(load, merged)
	return grown(measured), grown(ideal), unknown
}

// untested is why there is no trend to test; empty: there is one.
func untested(load *v1beta1.StepLoad, cut bool, found trend.Trend) string {
	switch {
	case load.IsBurst():
		return "A burst ends when every request is answered, so nothing can pile up."
	case !load.Arrives() && load.RatePerUser == nil:
		return "Users without a rate wait for each response before they send again, so nothing can pile up."
	case load.IsReplay():
		return "The load of a log changes, and so does the number of outstanding requests."
	case load.RampTo != nil:
		return "The load of a ramp changes, and so does the number of outstanding requests."
	case cut:
		return "The step was cut before its end."
	case load.Sessions != nil && found == trend.Unknown:
		return "Outstanding requests grow until as many sessions end as begin, after which the step was too short to tell."
	case found == trend.Unknown:
		return "There were too few requests to tell."
	}
	return ""
}

// growthText is a growth as a result has it: of a long step, a small one counts.
func growthText(perSecond float64) string {
	return trimmed(strconv.FormatFloat(perSecond, 'f', text.Digits(perSecond), 64))
}

func oneDigit(n float64) string { return strconv.FormatFloat(n, 'f', 1, 64) }

// TimeUntil is after what time of a load the response times of a target pass a limit, by
// the law of Little, if what is outstanding goes on to grow as it did in a step: a request
// that comes when there are L others waits for these, of which X are answered in a second.
// So the time is L/X, and L grows by g a second from L0 at the beginning on:
//
//	t = (limit·X − L0) / g.
//
// ok is false if it does not follow: nothing grew, or t is within the step, which did not
// see it.
func TimeUntil(step *v1beta1.StepStatus, limit time.Duration) (t time.Duration, ok bool) {
	if step.Result == nil || !step.Result.Outstanding.Grows() || step.Load.Duration == nil {
		return 0, false
	}
	o, window := step.Result.Outstanding, step.Load.Duration.Seconds()
	mean, errMean := strconv.ParseFloat(o.Mean, 64)
	growth, errGrowth := strconv.ParseFloat(o.Growth, 64)
	answered, errAnswered := strconv.ParseFloat(step.Result.Throughput, 64)
	if errMean != nil || errGrowth != nil || errAnswered != nil || growth <= 0 || answered <= 0 {
		return 0, false
	}
	const middle = 0.55 // of the parts over which the mean is taken
	first := max(mean-growth*middle*window, 0)
	seconds := (limit.Seconds()*answered - first) / growth
	const longest = 1e6 // eleven days: beyond it, the growth says nothing
	return time.Duration(seconds * float64(time.Second)), seconds > window && seconds < longest
}
