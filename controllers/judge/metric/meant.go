package metric

import (
	"strings"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// elsewhere are names that other tools have for a metric, in lower case and without signs
// between their words.
var elsewhere = map[string]v1beta1.Metric{
	"apdex": v1beta1.MetricOnTimeRate,
	"avg":   v1beta1.MetricMean, "average": v1beta1.MetricMean,
	"error": v1beta1.MetricFailureRate, "errors": v1beta1.MetricFailureRate, "errorrate": v1beta1.MetricFailureRate,
	"errorratio": v1beta1.MetricFailureRate, "failures": v1beta1.MetricFailureRate, "httpreqfailed": v1beta1.MetricFailureRate,
	"successrate": v1beta1.MetricFailureRate, "availability": v1beta1.MetricDowntime, "uptime": v1beta1.MetricDowntime,
	"httpreqduration": "p95", "latency": "p95", "responsetime": "p95", "duration": "p95", "median": "p50",
	"max": v1beta1.MetricLongest, "maximum": v1beta1.MetricLongest,
	"unsent": v1beta1.MetricUnsentRate, "dropped": v1beta1.MetricUnsentRate, "droppediterations": v1beta1.MetricUnsentRate,
	"granted": v1beta1.MetricOverLimitGrants, "grants": v1beta1.MetricOverLimitGrants, "denied": v1beta1.MetricFalseDenials,
	"rps": v1beta1.MetricGoodput, "tps": v1beta1.MetricGoodput, "rate": v1beta1.MetricGoodput, "requestspersecond": v1beta1.MetricGoodput,
	"tokenspersecond": v1beta1.MetricEventsPerSecond, "outputtokenspersecond": v1beta1.MetricEventsPerSecond, "outputthroughput": v1beta1.MetricEventsPerSecond,
}

// ofStreams are names that other tools have for a time of streams, written likewise.
var ofStreams = map[string]v1beta1.LatencyTime{
	"ttft": v1beta1.FirstEventTime, "timetofirsttoken": v1beta1.FirstEventTime, "timetofirstevent": v1beta1.FirstEventTime, "timetofirstbyte": v1beta1.FirstEventTime, "ttfb": v1beta1.FirstEventTime,
	"itl": v1beta1.BetweenEventsTime, "intertokenlatency": v1beta1.BetweenEventsTime, "gap": v1beta1.BetweenEventsTime, "tbt": v1beta1.BetweenEventsTime,
	"tpot": v1beta1.MeanGapTime, "timeperoutputtoken": v1beta1.MeanGapTime, "maxgap": v1beta1.LongestGapTime, "stall": v1beta1.LongestGapTime,
}

// StreamTimeMeant is the time of streams that a name may mean which stands in another place than one of it, or
// is that of another tool; "" if there is none.
func StreamTimeMeant(name string) v1beta1.LatencyTime {
	plain := withoutSigns.Replace(strings.ToLower(name))
	for _, t := range streamTimes {
		if plain == strings.ToLower(string(t.Name)) {
			return t.Name
		}
	}
	return ofStreams[plain]
}

var withoutSigns = strings.NewReplacer("_", "", "-", "", " ", "", ".", "")

// Meant is the metric that a name which is none may mean: that of another tool, or the one
// that is spelled most alike; "" if there is none.
func Meant(name string) v1beta1.Metric {
	if meant, ok := elsewhere[withoutSigns.Replace(strings.ToLower(name))]; ok {
		return meant
	}
	names := make([]string, len(table))
	for i := range table {
		names[i] = string(table[i].Name)
	}
	return v1beta1.Metric(text.MostAlike(name, names))
}
