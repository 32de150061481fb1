package metric

import (
	"math/big"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// inAPI are the metrics of the API's schema that are no percentiles, as its rule names them.
func inAPI(t *testing.T) []v1beta1.Metric {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "..", "..", "config", "crd", "bases", "loadtest.dev_loadtests.yaml"))
	must.Succeed(t, err)
	type schema struct {
		Rules []struct {
			Rule, Message string
		} `json:"x-kubernetes-validations"`
		Items      *schema            `json:"items"`
		Properties map[string]*schema `json:"properties"`
	}
	var crd struct {
		Spec struct {
			Versions []struct {
				Schema struct {
					OpenAPIV3Schema schema `json:"openAPIV3Schema"`
				} `json:"schema"`
			} `json:"versions"`
		} `json:"spec"`
	}
	must.Succeed(t, yaml.Unmarshal(raw, &crd))
	root := crd.Spec.Versions[0].Schema.OpenAPIV3Schema
	var names []v1beta1.Metric
	for _, r := range root.Properties["spec"].Properties["thresholds"].Items.Rules {
		if !strings.HasPrefix(r.Message, "metric must be a percentile") {
			continue
		}
		_, list, _ := strings.Cut(r.Rule, " in [")
		for _, name := range regexp.MustCompile(`'(\w+)'`).FindAllStringSubmatch(list, -1) {
			names = append(names, v1beta1.Metric(name[1]))
		}
	}
	return names
}

func namesOf(list []Metric) (names []v1beta1.Metric) {
	for _, m := range list {
		names = append(names, m.Name)
	}
	return names
}

func TestEveryMetricOfTheAPIHasARow(t *testing.T) {
	others := slices.DeleteFunc(namesOf(table), func(name v1beta1.Metric) bool { return Of(name).Times().Quantile > 0 })
	if diff := cmp.Diff(inAPI(t), others); diff != "" {
		t.Errorf("metrics (-of the API +of the table):\n%s", diff)
	}
	for _, m := range table {
		if m.Measured == nil {
			t.Errorf("%s is counted from nothing", m.Name)
		}
		if m.Times().Quantile > 0 != slices.Contains(namesOf(Quantiles()), m.Name) || (m.Unit == Latency) != (m.Times().Of != nil) {
			t.Errorf("%s is of %+v", m.Name, m.Times())
		}
	}
	if m := Of("p100"); m.Name != "p100" || m.Measured != nil {
		t.Errorf("a metric that is not there is %+v", m)
	}
}

func TestGroupsOfMetrics(t *testing.T) {
	higher := slices.DeleteFunc(slices.Clone(table), func(m Metric) bool { return m.LowerIsBetter })
	for name, tc := range map[string]struct {
		got  []Metric
		want []v1beta1.Metric
	}{
		"lower is not better":  {higher, []v1beta1.Metric{"onTimeRate", "goodput", "throughput", "itemsPerSecond", "eventsPerSecond", "outputTokensPerSecond", "Query"}},
		"a maximum by default": {Default(), []v1beta1.Metric{"failureRate", "unsentRate", "downtime"}},
		"in a table":           {Titled(), []v1beta1.Metric{"p50", "p95", "p99", "failureRate", "unsentRate", "goodput", "eventsPerSecond", "outputTokensPerSecond"}},
		"a quantile":           {Quantiles(), []v1beta1.Metric{"p50", "p75", "p90", "p95", "p99", "p99.9", "p99.99"}},
	} {
		same.As(t, name, tc.want, namesOf(tc.got))
	}
}

// Each quantile is that of its name, in a histogram and in a status.
func TestQuantilesAreThoseOfTheirNames(t *testing.T) {
	h := measure.NewHistogram()
	for i := range 100_000 {
		h.RecordN(time.Duration(i+1)*time.Microsecond, 1)
	}
	for name, want := range map[v1beta1.Metric]struct {
		share  float64
		needed int64
	}{
		"p50": {0.5, 2}, "p75": {0.75, 4}, "p90": {0.9, 10}, "p95": {0.95, 20}, "p99": {0.99, 100}, "p99.9": {0.999, 1000}, "p99.99": {0.9999, 10_000},
		v1beta1.MetricLongest: {0, 1}, v1beta1.MetricMean: {0, 1},
	} {
		times, fields := Of(name).Times(), v1beta1.Latency{}
		if times.Share() != want.share || times.Needed() != want.needed {
			t.Errorf("%s is at %v, and needs %d samples", name, times.Share(), times.Needed())
		}
		took, _ := h.Quantile(want.share)
		switch name {
		case v1beta1.MetricLongest:
			took = h.Max()
		case v1beta1.MetricMean:
			took = h.Mean().Round(measure.Lowest)
		}
		same.As(t, string(name), took, times.Of(h))
		*times.Field(&fields) = &metav1.Duration{Duration: took}
		if got := Value(Quantity{Metric: name}, &v1beta1.StepResult{ResponseTime: &fields}); got == nil || got.Cmp(Micros(took)) != 0 {
			t.Errorf("%s is %v in a status, want %v", name, got, took)
		}
	}
}

// What a measurement has of a metric, and what a result has, are the same.
func TestCountsOfAMeasurement(t *testing.T) {
	r := measure.NewRequest()
	r.Sent, r.Expected, r.ExpectedInWindow, r.CompletedInWindow = 20, 12, 7, 9
	r.Outcomes[measure.RateLimited], r.Outcomes[measure.Success] = 3, 12
	for name, want := range map[v1beta1.Metric]int64{"goodput": 7, "throughput": 9, "itemsPerSecond": 70, "failureRate": 0} {
		same.As(t, string(name)+" counts", want, InWindow(name, &r, 70))
	}
	for name, want := range map[v1beta1.Metric][2]int64{"failureRate": {6, -1}, "rateLimitedRate": {3, 1}} {
		from := Of(name).Measured.(OfSent)
		same.As(t, string(name)+" counts", want, [2]int64{from.Count(&r, 2), from.PerFailure})
	}
	m := &measure.Measurement{Due: 50, Unsent: 5, UnsentByGenerator: 2}
	if n, ideally, due := Of(v1beta1.MetricUnsentRate).Measured.(OfDue)(m); n != 5 || ideally != 3 || due != 50 {
		t.Errorf("unsent are %d, and %d, of %d", n, ideally, due)
	}
	// Of sessions that send many requests each, half were not started.
	m = &measure.Measurement{Due: 1005, Unsent: 5, UnsentByGenerator: 2, Sessions: measure.Sessions{Due: 10, Started: 5}}
	if n, ideally, due := Of(v1beta1.MetricUnsentRate).Measured.(OfDue)(m); n != 5 || ideally != 3 || due != 10 {
		t.Errorf("unsent are %d, and %d, of %d; want 5, 3, 10", n, ideally, due)
	}
}

func TestValuesForPeople(t *testing.T) {
	for want, tc := range map[string]struct {
		unit  Unit
		value *big.Rat
	}{
		"1.2ms": {Latency, big.NewRat(1234, 1)}, "33.33%": {Share, big.NewRat(100, 3)}, "25%": {Share, new(big.Rat).SetFrac(big.NewInt(25e17+1), big.NewInt(1e17+3))}, "998/s": {Rate, big.NewRat(998, 1)}, "4.5/s": {Rate, big.NewRat(9, 2)}, "3": {Count, big.NewRat(3, 1)},
	} {
		if got := tc.unit.Short(tc.value); got != want {
			t.Errorf("%v of %d is %s, want %s", tc.value, tc.unit, got, want)
		}
	}
}

func TestValuesOfUnits(t *testing.T) {
	for written, tc := range map[string]struct {
		unit Unit
		want int64 // -1: it cannot be read
	}{
		"500us": {Latency, 500}, "5ms": {Latency, 5_000}, "2s": {Latency, 2_000_000}, "5": {Latency, -1}, "5%": {Latency, -1}, "fastms": {Latency, -1},
		"7%": {Share, 7}, "7": {Share, -1}, "much%": {Share, -1}, "1000": {Rate, 1000}, "1ms": {Rate, -1}, "0": {Count, 0}, "none": {Count, -1},
	} {
		got, err := tc.unit.Parse(written)
		if (err != nil) != (tc.want < 0) || err == nil && got.Cmp(big.NewRat(tc.want, 1)) != 0 {
			t.Errorf("%s of %d is %v, %v; want %d", written, tc.unit, got, err, tc.want)
		}
	}
}

func TestWhatIsKnownOfAPart(t *testing.T) {
	for name, want := range map[v1beta1.Metric]bool{"p95": true, "failureRate": true, "rateLimitedRate": true, "unsentRate": false, "goodput": false} {
		q := Quantity{Metric: "p95", Request: "create"}.Of(Of(name))
		if got := q.Request != ""; got != want || q.Metric != name {
			t.Errorf("%+v: it is of the request: %t, want %t", q, got, want)
		}
	}
	if late := LateTogether(Quantity{Metric: "p100"}, &v1beta1.StepResult{LateTogether: &v1beta1.Latency{}}); late.Sign() != 0 {
		t.Errorf("a metric that is not there is late by %v", late)
	}
}

// A metric may be any percentile, of two digits behind the point. No result has one that is not
// in the table.
func TestAnyPercentile(t *testing.T) {
	h := measure.NewHistogram()
	for i := range 10_000 {
		h.Record(time.Duration(i+1) * time.Microsecond)
	}
	for name, want := range map[v1beta1.Metric]int64{"p98": 9800, "p99.5": 9950, "p99.95": 9995, "p0.01": 1, "p7": 700, "p95": 9500} {
		m := Of(name)
		if m.Times().Quantile != want || m.Unit != Latency || !m.LowerIsBetter || m.Name != name {
			t.Errorf("%s: %+v", name, m)
		}
		if d := m.Times().Of(h); want < 2000 && d != time.Duration(want)*time.Microsecond {
			t.Errorf("%s of 1 us to 10 ms is %v, want %d us", name, d, want)
		}
	}
	for _, name := range []v1beta1.Metric{"p0", "p0.00", "p100", "p99.999", "p", "p-1", "p9a", "p.5", "p 5", "p+5", "95", ""} {
		if m := Of(name); m.Measured != nil {
			t.Errorf("%s is a metric: %+v", name, m)
		}
	}
	if v := Value(Quantity{Metric: "p98"}, &v1beta1.StepResult{ResponseTime: &v1beta1.Latency{}}); v != nil {
		t.Errorf("a result has p98: %v", v)
	}
}
