package runmetrics_test

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest"
	"github.com/loadtest-dev/loadtest-operator/controllers/replica/configuration"
	"github.com/loadtest-dev/loadtest-operator/controllers/replica/metricspush"
	"github.com/loadtest-dev/loadtest-operator/test/golden"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

const reference = "../../docs/metrics.md"

// everything is what an operator shows that has one LoadTest in each state.
func everything(t *testing.T) []*dto.MetricFamily {
	t.Helper()
	lt := running("checkout")
	o := newOperator(t, lt)
	last := lt.DeepCopy().Status
	last.Verdict, last.Steps[0].State, last.Steps[0].Result = v1beta1.VerdictPassed, v1beta1.StepComplete, result(t, 1000)
	last.Steps[0].Result.ResponseTime = &v1beta1.Latency{
		P50: &metav1.Duration{}, P90: &metav1.Duration{}, P95: &metav1.Duration{}, P99: &metav1.Duration{}, P999: &metav1.Duration{},
	}
	times := &v1beta1.EventTimes{P50: &metav1.Duration{}, P95: &metav1.Duration{}, P99: &metav1.Duration{}}
	last.Steps[0].Result.Streams = &v1beta1.StreamsResult{Events: 1, FirstEvent: times, BetweenEvents: times, LongestGap: times, MeanGap: times}
	of := &last.Steps[0].Result.Requests[0]
	of.ResponseTime = last.Steps[0].Result.ResponseTime
	of.Outcomes = v1beta1.Outcomes{Success: 1, RateLimited: 1, ClientError: 1, ServerError: 1, UnexpectedStatus: 1, Timeout: 1, Refused: 1, Reset: 1, DNS: 1, TLS: 1, BadResponse: 1, Unfinished: 1, Other: 1, BrokenOff: 1, Stalled: 1, EndedEarly: 1}
	o.Finished(lt.UID, &last)
	o.list = []v1beta1.LoadTest{stripped(lt, v1beta1.VerdictPassed, 0)}
	loadtest.NewMetrics(o.registry)
	configuration.NewMetrics(o.registry)
	coordinator.New(nil, clock.RealClock{}, nil, o.registry)
	_, err := metricspush.New(metricspush.Config{Endpoint: "https://collector", Interval: metricspush.LeastInterval}, o.registry, o.registry, logr.Discard())
	must.Succeed(t, err)
	families, err := o.registry.Gather()
	must.Succeed(t, err)
	return families
}

// TestReferenceListsMetrics keeps the tables of docs/metrics.md, which -update writes.
func TestReferenceListsMetrics(t *testing.T) {
	text, err := os.ReadFile(reference)
	must.Succeed(t, err)
	now := string(text)
	for _, table := range []struct {
		name string
		is   func(*dto.MetricFamily) bool
	}{
		{"loadtests", isOfLoadTest},
		{"operator", func(f *dto.MetricFamily) bool { return !isOfLoadTest(f) }},
	} {
		begin, end := "<!-- "+table.name+" -->\n", "<!-- /"+table.name+" -->"
		head, rest, ok := strings.Cut(now, begin)
		_, tail, ok2 := strings.Cut(rest, end)
		if !ok || !ok2 {
			t.Fatalf("%s has no table between %q and %q", reference, begin, end)
		}
		want := "| metric | type | labels | meaning |\n| --- | --- | --- | --- |\n"
		for _, f := range everything(t) {
			if table.is(f) {
				want += row(f)
			}
		}
		now = head + begin + want + end + tail
	}
	golden.Check(t, reference, now)
}

func isOfLoadTest(f *dto.MetricFamily) bool {
	return slices.ContainsFunc(f.Metric[0].Label, func(l *dto.LabelPair) bool { return l.GetName() == "name" })
}

// row describes a metric, with the values that its labels may have.
func row(f *dto.MetricFamily) string {
	values := map[string]map[string]bool{}
	for _, m := range f.Metric {
		for _, l := range m.Label {
			if n := l.GetName(); n != "name" && n != "namespace" {
				if values[n] == nil {
					values[n] = map[string]bool{}
				}
				values[n]["`"+l.GetValue()+"`"] = true
			}
		}
	}
	var labels []string
	for _, n := range slices.Sorted(maps.Keys(values)) {
		if n == "request" {
			values[n] = map[string]bool{"its name": true}
		}
		labels = append(labels, fmt.Sprintf("`%s`: %s", n, strings.Join(slices.Sorted(maps.Keys(values[n])), ", ")))
	}
	return fmt.Sprintf("| `%s` | %s | %s | %s |\n", f.GetName(), strings.ToLower(f.GetType().String()), strings.Join(labels, "; "), f.GetHelp())
}

// promtool has the conventions of Prometheus.
func TestMetricsFollowConventions(t *testing.T) {
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Fatal("no promtool: run make deps, or apt-get install prometheus")
	}
	var page strings.Builder
	for _, f := range everything(t) {
		if _, err := expfmt.MetricFamilyToText(&page, f); err != nil {
			t.Fatal(err)
		}
	}
	check := exec.CommandContext(t.Context(), promtool, "check", "metrics")
	check.Stdin = strings.NewReader(page.String())
	if out, err := check.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("promtool check metrics: %v\n%s", err, out)
	}
	// It can find fault.
	check = exec.CommandContext(t.Context(), promtool, "check", "metrics")
	check.Stdin = strings.NewReader("# TYPE loadtest_bad counter\nloadtest_bad 1\n")
	if out, err := check.CombinedOutput(); err == nil {
		t.Errorf("a counter without a help and _total passes: %s", out)
	}
}

// Other labels could make the number of series depend on what tenants write. That of requests
// is bounded: see TestSeriesOfRequestsAreBounded.
func TestLabelsAreOfClosedSets(t *testing.T) {
	allowed := []string{"namespace", "name", "phase", "verdict", "reason", "state", "outcome", "percentile", "time", "to", "of", "request"}
	for _, f := range everything(t) {
		for _, m := range f.Metric {
			for _, l := range m.Label {
				if !slices.Contains(allowed, l.GetName()) {
					t.Errorf("%s has the label %s", f.GetName(), l.GetName())
				}
			}
		}
	}
}
