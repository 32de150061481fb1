//go:build e2e

package runs

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/pressure"
)

const (
	// callsLength is how long the sample calls, instead of half a minute.
	callsLength = 6 * time.Second

	// streams reads 2500 events in three parts each time, and 1000 in one, of which it
	// expects two.
	streams = `
target:
  service: {name: eventstore, port: 9090}
  protocol: HTTP/2
  grpc: {descriptorsFrom: {configMap: {name: descriptors, key: eventstore.binpb}}}
setup: {fill: {request: append, count: 5}}
requests:
  - {name: append, weight: 0, grpc: {method: loadtest.eventstore.v1.EventStoreService/Append, message: {events: [EVENTS]}}}
  - name: read
    items: 2500
    grpc: {method: loadtest.eventstore.v1.EventStoreService/Read, message: {from: 1, to: 2500}}
    expect: {replies: {min: 3, max: 3}, json: [{path: ".events[0].type", equals: load}]}
  - name: short
    grpc: {method: loadtest.eventstore.v1.EventStoreService/Read, message: {to: 1000}}
    expect: {replies: {min: 2}}
steps: [{name: 4 users x 20, users: 4, requestsPerUser: 20}]
parallelism: 2
`
	callsTarget = `
target:
  service: {name: ratelimiter, port: 9090}
  protocol: HTTP/2
  grpc: {descriptorsFrom: {configMap: {name: descriptors, key: ratelimiter.binpb}}}
`
)

// TestCalls: calls of gRPC to replicas behind Nginx are in the status as the replicas
// counted them, by status. The sample's descriptors are asked for, those of others are given.
func TestCalls(t *testing.T) {
	t.Parallel()
	ns := cluster.Limiter(t, "ratelimiter.service.grpcPort=9090", "ratelimiter.replicas=2")
	describe(t, ns, "ratelimiter", "deployment/ratelimiter-app")
	t.Run("sample", func(t *testing.T) { callsAreCounted(t, ns) })
	t.Run("streams", streamsAreCounted)
}

// streamsAreCounted: a stream counts once, and the store has sent all events of each. One
// that has fewer parts than are expected is no success, although its status is OK.
func streamsAreCounted(t *testing.T) {
	ns := cluster.EventStore(t, "eventstore.service.grpcPort=9090", "eventstore.auth.enabled=false")
	describe(t, ns, "eventstore", "statefulset/eventstore-app")
	lt := cluster.Create(t, ns, "streams", strings.Replace(streams, "EVENTS", strings.Repeat("{type: load}, ", 500), 1))
	cluster.Finish(t, lt)
	r := lt.Status.Steps[0].Result
	if r == nil {
		t.Fatalf("there is no result: %v", lt.Status.Conditions)
	}
	families, err := cluster.MetricsOf(t.Context(), ns, "eventstore-app-0")
	must.Succeed(t, err)
	was := fmt.Sprintf("%d streams of %d events", countOf(families, "eventstore_requests_total", "stream", "done"), countOf(families, "eventstore_events_read_total"))
	got := fmt.Sprintf("%d streams of %d events", r.Sent, 2500*r.Outcomes.Success+1000*r.Outcomes.BadResponse)
	if got != was || r.Outcomes.Success != 40 || r.Outcomes.BadResponse != 40 || r.StatusCodes[0].Code != measure.GRPCOK || r.StatusCodes[0].Count != 40 {
		t.Errorf("the status counts %s, %+v of statuses %v; the store %s; want 40 of each kind", got, r.Outcomes, r.StatusCodes, was)
	}
	if r.ItemsPerSecond == "" {
		t.Error("the items of the calls are not counted")
	}
	t.Logf("%s; %v", was, r.Requests)
}

// countOf adds up the counters of a name that have all of some values of labels.
func countOf(families map[string]*dto.MetricFamily, name string, values ...string) (n int64) {
	for _, m := range families[name].GetMetric() {
		var of []string
		for _, l := range m.GetLabel() {
			of = append(of, l.GetValue())
		}
		if !slices.ContainsFunc(values, func(v string) bool { return !slices.Contains(of, v) }) {
			n += int64(m.GetCounter().GetValue())
		}
	}
	return n
}

// describe writes the descriptors of a target into a ConfigMap.
func describe(t *testing.T, ns, target, workload string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), target+".binpb")
	set := cluster.MustCommand(t, "kubectl", "-n", ns, "exec", workload, "--", "/"+target, "descriptors")
	must.Succeed(t, os.WriteFile(file, []byte(set), 0o600))
	cluster.MustCommand(t, "kubectl", "-n", ns, "create", "configmap", "descriptors", "--from-file="+file)
}

func callsAreCounted(t *testing.T, ns string) {
	before, machine := cluster.Ask(t, ns), pressure.Start()
	lt := sampleCalls(t, ns)
	cluster.Finish(t, lt)
	cluster.Answered(t, lt)
	cluster.IsPassed(t, lt, machine)
	r := lt.Status.Steps[0].Result
	if said := machine.Read(); r.Sent*20 < r.Due*19 && !said.Busy() {
		t.Errorf("%d of %d that were due were sent (%s)", r.Sent, r.Due, said)
	}
	if due := int64(500 * callsLength / time.Second); r.Due != due {
		t.Errorf("%d due, want %d: %v", r.Due, due, r.Requests)
	}
	got, was := callsOf(r), servedSince(t, ns, before)
	if got != was || was.Granted == 0 || was.Denied == 0 || was.Granted != r.Outcomes.Success || was.Denied != r.Outcomes.RateLimited {
		t.Errorf("the status counts %+v and %+v, the limiter %+v; want the same, and some of both", got, r.Outcomes, was)
	}
	report := cluster.MustCommand(t, "kubectl", "loadtest", "report", lt.Name, "-n", ns)
	if digest := lt.Status.Descriptors; lt.Spec.Target.GRPC != nil || digest == "" || !strings.Contains(report, digest) {
		t.Errorf("the report does not have the digest %q of the descriptors that were asked for:\n%s", digest, report)
	}
	if !strings.Contains(report, "with RESOURCE_EXHAUSTED, as expected\n") {
		t.Errorf("the report does not name the status of the calls that were limited:\n%s", report)
	}
}

// sampleCalls creates the sample, shortened.
func sampleCalls(t *testing.T, ns string) *v1beta1.LoadTest {
	t.Helper()
	text := must.ReadFile(t, "../../../config/samples/calls.yaml")
	lt := &v1beta1.LoadTest{}
	must.Succeed(t, yaml.UnmarshalStrict(text, lt))
	lt.Namespace, lt.Spec.Steps[0].Duration = ns, &metav1.Duration{Duration: callsLength}
	// The limits of the sample are those of a target with a node of its own.
	second, tenth := intstr.FromString("1s"), intstr.FromString("10%")
	lt.Spec.Thresholds = []v1beta1.Threshold{{Metric: "p99", Max: &second}, {Metric: v1beta1.MetricDowntime, Max: &tenth}}
	must.Succeed(t, cluster.API.Create(t.Context(), lt))
	return lt
}

// callsOf are the counts of a step by the statuses that the limiter has for its decisions.
func callsOf(r *v1beta1.StepResult) (s cluster.Served) {
	for _, c := range r.StatusCodes {
		switch c.Code {
		case measure.GRPCOK:
			s.Granted += c.Count
		case measure.GRPCResourceExhausted:
			s.Denied += c.Count
		default:
			s.Failed += c.Count
		}
	}
	return s
}

// servedSince is what the replicas decided since they were asked before.
func servedSince(t *testing.T, ns string, before cluster.Served) cluster.Served {
	t.Helper()
	return cluster.Ask(t, ns).Less(before)
}
