package v1beta1_test

import (
	"fmt"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// spelling is how the values of a field are spelled, at the edges of what is
// accepted. A patch has %s for the value.
type spelling struct {
	patch             string
	path, message     string
	accepted, refused []string
}

var (
	// Every unit, a fraction and a sum; of a time from 1 s to 10 m, which all take.
	times   = []string{"2000000us", "2000000µs", "2000ms", "1.5s", "0.5m", "0.1h", "1m30s"}
	noTimes = []string{"x5s", "5sx", "5", "5d", "-5s", "5 s", ".5s"}
	// All that fits nine digits before the point and six behind it.
	decimals   = []string{"999999999.999999", "0.000001", "1", "1.5"}
	noDecimals = []string{"1000000000", "0.0000001", "x1", "1x", "0", ".5", "1."}
	noHosts    = []string{"", "a:80", "ftp://a", "xhttp://a", "http://a b", "http://a?b", "http://a#b", "http://u@a", "http://u:p@a:80", "http://"}
)

func aTime(patch, path, message string) spelling {
	return spelling{patch, path, message, times, noTimes}
}

func aDecimal(patch, path string) spelling {
	return spelling{patch, path, `must be a number from 0.000001 to 999999999, of up to 6 decimals: 12, or in quotes "0.5"`, decimals, noDecimals}
}

func aBound(metric, message string, accepted, refused []string) spelling {
	const limiter = "audits: [{name: contract, rateLimit: {capacity: 1, refillPerSecond: '1', clientHeader: A}}]"
	return spelling{"{" + limiter + ", thresholds: [{metric: " + metric + ", min: '%s'}]}", "spec.thresholds[0]", "max or min of " + message, accepted, refused}
}

func aColumn(accepted, refused []string) spelling {
	_, message, _ := strings.Cut(noColumn, "Invalid value: ")
	return spelling{"{requests: [{name: create, http: {}}], setup: {fill: {request: create, count: 1, capture: {code: .a, '%s': .b}}}}", "spec.setup.fill.capture", message, accepted, refused}
}

var spellings = map[string]spelling{
	"timeout":                       aTime("{target: {timeout: '%s'}}", "spec.target.timeout", "timeout must be a time from 1ms to 10m, such as 30s"),
	"timeout of a request":          aTime("{requests: [{name: a, http: {}, timeout: '%s'}]}", "spec.requests[0].timeout", "timeout must be a time from 1ms to 10m, such as 30s"),
	"duration of a rung":            aTime("{steps: null, ladder: {users: [1], duration: '%s'}}", "spec.ladder.duration", "duration must be a time from 1s to 24h, such as 30s"),
	"warm-up of a rung":             aTime("{steps: null, ladder: {users: [1], duration: 1s, warmUp: '%s'}}", "spec.ladder.warmUp", "warmUp must be a time from 0s to 1h, such as 5s"),
	"rest":                          aTime("{steps: null, ladder: {users: [1], duration: 1s, rest: '%s'}}", "spec.ladder.rest", "rest must be a time from 0s to 24h, such as 10s"),
	"duration of a step":            aTime("{steps: [{name: 1 users, users: 1, duration: '%s'}]}", "spec.steps[0].duration", "duration must be a time from 100ms to 24h, such as 30s"),
	"warm-up of a step":             aTime("{steps: [{name: 1 users, users: 1, duration: 1s, warmUp: '%s'}]}", "spec.steps[0].warmUp", "warmUp must be a time from 0s to 1h, such as 5s"),
	"pause":                         aTime("{steps: [{name: pause, pause: '%s'}, {name: 1 users, users: 1, duration: 1s}]}", "spec.steps[0].pause", "pause must be a time from 1ms to 24h, such as 10s"),
	"warm-up of a setup":            aTime("{requests: [{name: a, http: {}}], setup: {warmUp: {request: a, duration: '%s'}}}", "spec.setup.warmUp.duration", "duration must be a time from 1ms to 1h, such as 5s"),
	"bounds of a timeout":           {"{target: {timeout: '%s'}}", "spec.target.timeout", "timeout must be a time from 1ms to 10m, such as 30s", []string{"1ms", "1m30.5s", "10m"}, []string{"999us", "10m1s", "soon"}},
	"bounds of a request's timeout": {"{requests: [{name: a, http: {}, timeout: '%s'}]}", "spec.requests[0].timeout", "timeout must be a time from 1ms to 10m, such as 30s", []string{"10m"}, []string{"10m1s"}},
	"bounds of a pause":             {"{steps: [{name: pause, pause: '%s'}, {name: 1 users, users: 1, duration: 1s}]}", "spec.steps[0].pause", "pause must be a time from 1ms to 24h, such as 10s", []string{"1ms", "24h"}, []string{"999us", "24h1s"}},
	"bounds of a warm-up":           {"{requests: [{name: a, http: {}}], setup: {warmUp: {request: a, duration: '%s'}}}", "spec.setup.warmUp.duration", "duration must be a time from 1ms to 1h, such as 5s", []string{"1ms", "1h"}, []string{"0s", "999us", "1h1s"}},
	"no warm-up":                    {"{steps: null, ladder: {users: [1], duration: 1s, warmUp: '%s'}}", "spec.ladder.warmUp", "", []string{"0s"}, nil},

	"rate of users of a rung": aDecimal("{steps: null, ladder: {users: [1], duration: 1s, ratePerUser: '%s'}}", "spec.ladder.ratePerUser"),
	"rate of users of a step": aDecimal("{steps: [{name: 1 users, users: 1, duration: 1s, ratePerUser: '%s'}]}", "spec.steps[0].ratePerUser"),
	"rate of arrivals":        aDecimal("{steps: [{name: steady, rate: '%s', duration: 1s}]}", "spec.steps[0].rate"),
	"end of a ramp":           aDecimal("{steps: [{name: 1/s, rate: '1', rampTo: '%s', duration: 1s}]}", "spec.steps[0].rampTo"),
	"refill of a limiter":     aDecimal("{audits: [{name: contract, rateLimit: {capacity: 1, refillPerSecond: '%s', clientHeader: A}}]}", "spec.audits[0].rateLimit.refillPerSecond"),

	"bound of a latency": aBound("p95", "a latency must be a time such as 500ms",
		[]string{"999999999.999999s", "1us", "1.5s"}, []string{"", "500", "1000000000ms", "1.0000001s", "x1s", "1sx", "1m"}),
	"bound of a share": aBound("failureRate", "onTimeRate, failureRate, rateLimitedRate, unsentRate or downtime must be a percentage such as 1%",
		[]string{"999.999999%", "0%"}, []string{"1000%", "1.0000001%", "1", "0.001"}),
	"time of onTimeRate": {"{thresholds: [{metric: onTimeRate, min: 99%%, within: '%s'}]}", "spec.thresholds[0].within", "within must be a time from 1us to 1h, such as 200ms",
		[]string{"1us", "1h", "1.5s"}, []string{"0s", "0.9us", "1h1us", "61m", "x1s", "1sx", "1"}},
	"first event of onTimeRate": {"{requests: [{name: chat, http: {stream: {events: SSE}}}], thresholds: [{metric: onTimeRate, min: 99%%, firstEvent: '%s'}]}", "spec.thresholds[0].firstEvent", "firstEvent must be a time from 1us to 1h, such as 500ms",
		[]string{"1us", "1h", "1.5s"}, []string{"0s", "0.9us", "1h1us", "61m", "x1s", "1sx", "1"}},
	"mean gap of onTimeRate": {"{requests: [{name: chat, http: {stream: {events: SSE}}}], thresholds: [{metric: onTimeRate, min: 99%%, meanGap: '%s'}]}", "spec.thresholds[0].meanGap", "meanGap must be a time from 1us to 1h, such as 50ms",
		[]string{"1us", "1h", "1.5s"}, []string{"0s", "0.9us", "1h1us", "61m", "x1s", "1sx", "1"}},
	"grace of a threshold": {"{thresholds: [{metric: p95, max: 1s, onBreach: Abort, grace: '%s'}]}", "spec.thresholds[0].grace", "grace must be a time from 0s to 24h, such as 10s",
		[]string{"0s", "24h", "1m30s"}, []string{"24h1us", "soon", "x1s", "1sx", "-1s"}},
	"bound of a rate": aBound("goodput", `goodput, throughput, itemsPerSecond, eventsPerSecond, outputTokensPerSecond, drift or Query must be a number such as 1000, or in quotes such as "0.5"`,
		[]string{"999999999.999999", "0", "0.5"}, []string{"1000000000", "1.0000001", "1000/s"}),
	"bound of a count": aBound("falseDenials", "overLimitGrants or falseDenials must be a whole number such as 0",
		[]string{"999999999999", "0", "12"}, []string{"1000000000000", "1.5"}),

	"host": {"{target: {url: '%s'}}", "spec.target.url", "url must be http:// or https:// with a host and without a path, such as http://shortener:8080",
		[]string{"http://a", "https://a/", "http://10.0.0.1:80", "http://[::1]:8080"}, append(noHosts, "http://a:80/b")},
	"proxy": {"{target: {proxy: {url: '%s'}}}", "spec.target.proxy.url", "url must be http:// with a host, without credentials and without a path, such as http://proxy:3128",
		[]string{"http://a", "http://a/", "http://10.0.0.1:80/"}, append(noHosts, "http://a/b", "https://a", "https://a:80")},

	"column": aColumn([]string{"_1", "z", strings.Repeat("c", 63)}, []string{"1a", "a-b", strings.Repeat("c", 64), "user", "seq", "worker", "uuid", "rand"}),
	"node label": {"{worker: {nodeSelector: {a: b, '%s': c}}}", "spec.worker.nodeSelector", "nodeSelector must have keys of at most 317 and values of at most 63 characters",
		[]string{strings.Repeat("k", 317)}, []string{strings.Repeat("k", 318)}},
	"value of a node label": {"{worker: {nodeSelector: {a: b, c: '%s'}}}", "spec.worker.nodeSelector", "nodeSelector must have keys of at most 317 and values of at most 63 characters",
		[]string{strings.Repeat("v", 63)}, []string{strings.Repeat("v", 64)}},
	"key of a label of workers": {"{worker: {labels: {a: b, '%s': c}}}", "spec.worker.labels", "labels must have keys of at most 317 and values of at most 63 characters",
		[]string{strings.Repeat("k", 317)}, []string{strings.Repeat("k", 318)}},
	"value of a label of workers": {"{worker: {labels: {a: '%s'}}}", "spec.worker.labels", "labels must have keys of at most 317 and values of at most 63 characters",
		[]string{strings.Repeat("k", 63)}, []string{strings.Repeat("k", 64)}},
	"key of an annotation of workers": {"{worker: {annotations: {a: b, '%s': c}}}", "spec.worker.annotations", "annotations must have keys of at most 317 and values of at most 1024 characters",
		[]string{strings.Repeat("k", 317)}, []string{strings.Repeat("k", 318)}},
	"value of an annotation of workers": {"{worker: {annotations: {a: '%s'}}}", "spec.worker.annotations", "annotations must have keys of at most 317 and values of at most 1024 characters",
		[]string{strings.Repeat("k", 1024)}, []string{strings.Repeat("k", 1025)}},
	"key of a label to stay away from": {"{worker: {awayFrom: {a: b, '%s': c}}}", "spec.worker.awayFrom", "awayFrom must have keys of at most 317 and values of at most 63 characters",
		[]string{strings.Repeat("k", 317)}, []string{strings.Repeat("k", 318)}},
	"value of a label to stay away from": {"{worker: {awayFrom: {a: '%s'}}}", "spec.worker.awayFrom", "awayFrom must have keys of at most 317 and values of at most 63 characters",
		[]string{strings.Repeat("k", 63)}, []string{strings.Repeat("k", 64)}},
	"request of a second threshold": {"{requests: [{name: a, http: {}}], thresholds: [{metric: p95, max: 1s, requests: [a]}, {metric: p50, max: 1s, requests: ['%s']}]}",
		"spec.thresholds", "requests of a threshold must be names of spec.requests", []string{"a"}, []string{"b"}},
}

func TestValuesAreAcceptedOrRefusedByTheirSpelling(t *testing.T) {
	namespace, c := apiserver.Namespace(t), strictClient(t)
	for name, s := range spellings {
		t.Run(name, func(t *testing.T) {
			for _, value := range s.accepted {
				must.Report(t, value+" is refused", c.Create(t.Context(), loadTest(t, namespace, fmt.Sprintf(s.patch, value)), client.DryRunAll))
			}
			for _, value := range s.refused {
				got := refusals(t, c.Create(t.Context(), loadTest(t, namespace, fmt.Sprintf(s.patch, value)), client.DryRunAll))
				if len(got) != 1 || !strings.HasPrefix(got[0], s.path+": Invalid value: ") || !strings.HasSuffix(got[0], ": "+s.message) {
					t.Errorf("%s is refused with %q, want %s: %s", value, got, s.path, s.message)
				}
			}
		})
	}
}

// TestMetricsOfAWholeRunAreNotKnownPerRequest is apart, as each metric has a bound of its own.
func TestMetricsOfAWholeRunAreNotKnownPerRequest(t *testing.T) {
	namespace, c := apiserver.Namespace(t), strictClient(t)
	want := []string{"spec.thresholds[0].requests: Forbidden: requests must not be set with overLimitGrants, falseDenials, unsentRate, downtime, drift or Query, which are not known per request"}
	for metric, bound := range map[string]string{"overLimitGrants": "0", "falseDenials": "0", "unsentRate": "0%"} {
		spec := "{audits: [{name: contract, rateLimit: {capacity: 1, refillPerSecond: '1', clientHeader: A}}], requests: [{name: a, http: {}}], thresholds: [{metric: " + metric + ", max: '" + bound + "', requests: [a]}]}"
		same.As(t, "refusals of "+metric, want, refusals(t, c.Create(t.Context(), loadTest(t, namespace, spec), client.DryRunAll)))
	}
}

// TestALadderCannotChange is apart from the other transitions, which have steps.
func TestALadderCannotChange(t *testing.T) {
	namespace, c := apiserver.Namespace(t), strictClient(t)
	object := loadTest(t, namespace, "{steps: null, ladder: {users: [1, 2], duration: 1s}}")
	must.Succeed(t, c.Create(t.Context(), object))
	start(t, c, object)
	must.Report(t, "a change beside the ladder is refused", patch(t, c, object, "{suspend: true}"))
	same.As(t, "refusals of another rung", []string{frozen("ladder")}, refusals(t, patch(t, c, object, "{ladder: {users: [1, 3]}}")))
}
