package metric

import (
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// inAPI are the metrics of the API's schema.
func inAPI(t *testing.T) []v1alpha1.Metric {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "..", "..", "config", "crd", "bases", "loadtest.dev_loadtests.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	type schema struct {
		Enum       []v1alpha1.Metric  `json:"enum"`
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
	if err := yaml.Unmarshal(raw, &crd); err != nil {
		t.Fatal(err)
	}
	root := crd.Spec.Versions[0].Schema.OpenAPIV3Schema
	return root.Properties["spec"].Properties["thresholds"].Items.Properties["metric"].Enum
}

func namesOf(list []Metric) (names []v1alpha1.Metric) {
	for _, m := range list {
		names = append(names, m.Name)
	}
	return names
}

func TestEveryMetricOfTheAPIHasARow(t *testing.T) {
	if diff := cmp.Diff(inAPI(t), namesOf(table)); diff != "" {
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
	if m := Of("p42"); m.Name != "p42" || m.Measured != nil {
		t.Errorf("a metric that is not there is %+v", m)
	}
}

func TestGroupsOfMetrics(t *testing.T) {
	higher := slices.DeleteFunc(slices.Clone(table), func(m Metric) bool { return m.LowerIsBetter })
	for name, tc := range map[string]struct {
		got  []Metric
		want []v1alpha1.Metric
	}{
		"higher is better":     {higher, []v1alpha1.Metric{"onTimeRate", "goodput", "throughput", "itemsPerSecond"}},
		"a maximum by default": {Default(), []v1alpha1.Metric{"failureRate", "unsentRate", "downtime"}},
		"in a table":           {Titled(), []v1alpha1.Metric{"p50", "p95", "p99", "failureRate", "unsentRate", "goodput"}},
		"a quantile":           {Quantiles(), []v1alpha1.Metric{"p50", "p75", "p90", "p95", "p99", "p99.9", "p99.99"}},
	} {
		if diff := cmp.Diff(tc.want, namesOf(tc.got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// Each quantile is that of its name, in a histogram and in a status.
func TestQuantilesAreThoseOfTheirNames(t *testing.T) {
	h := measure.NewHistogram()
	for i := range 100_000 {
		h.RecordN(time.Duration(i+1)*time.Microsecond, 1)
	}
	for name, want := range map[v1alpha1.Metric]struct {
		share  float64
		needed int64
	}{
		"p50": {0.5, 2}, "p75": {0.75, 4}, "p90": {0.9, 10}, "p95": {0.95, 20}, "p99": {0.99, 100}, "p99.9": {0.999, 1000}, "p99.99": {0.9999, 10_000},
		v1alpha1.MetricLongest: {0, 1}, v1alpha1.MetricMean: {0, 1},
	} {
		times, fields := Of(name).Times(), v1alpha1.Latency{}
		if times.Share() != want.share || times.Needed() != want.needed {
			t.Errorf("%s is at %v, and needs %d samples", name, times.Share(), times.Needed())
		}
		took, _ := h.Quantile(want.share)
		switch name {
		case v1alpha1.MetricLongest:
			took = h.Max()
		case v1alpha1.MetricMean:
			took = h.Mean().Round(measure.Lowest)
		}
		if got := times.Of(h); got != took {
			t.Errorf("%s is %v, want %v", name, got, took)
		}
		*times.Field(&fields) = &metav1.Duration{Duration: took}
		if got := Value(Quantity{Metric: name}, &v1alpha1.StepResult{ResponseTime: &fields}); got == nil || got.Cmp(Micros(took)) != 0 {
			t.Errorf("%s is %v in a status, want %v", name, got, took)
		}
	}
}

// What a measurement has of a metric, and what a result has, are the same.
func TestCountsOfAMeasurement(t *testing.T) {
	r := measure.NewRequest()
	r.Sent, r.Expected, r.ExpectedInWindow, r.CompletedInWindow = 20, 12, 7, 9
	r.Outcomes[measure.RateLimited], r.Outcomes[measure.Success] = 3, 12
	for name, want := range map[v1alpha1.Metric]int64{"goodput": 7, "throughput": 9, "itemsPerSecond": 70, "failureRate": 0} {
		if got := InWindow(name, &r, 70); got != want {
			t.Errorf("%s counts %d in the window, want %d", name, got, want)
		}
	}
	for name, want := range map[v1alpha1.Metric][2]int64{"failureRate": {6, -1}, "rateLimitedRate": {3, 1}} {
		from := Of(name).Measured.(OfSent)
		if got := [2]int64{from.Count(&r, 2), from.PerFailure}; got != want {
			t.Errorf("%s counts %d, want %d", name, got, want)
		}
	}
	m := &measure.Measurement{Due: 50, Unsent: 5, UnsentByGenerator: 2}
	if n, ideally := Of(v1alpha1.MetricUnsentRate).Measured.(OfDue)(m); n != 5 || ideally != 3 {
		t.Errorf("unsent are %d, and %d", n, ideally)
	}
}

func TestValuesForPeople(t *testing.T) {
	for want, tc := range map[string]struct {
		unit  Unit
		value *big.Rat
	}{
		"1.2ms": {Latency, big.NewRat(1234, 1)}, "33.33%": {Share, big.NewRat(100, 3)}, "998/s": {Rate, big.NewRat(998, 1)}, "4.5/s": {Rate, big.NewRat(9, 2)}, "3": {Count, big.NewRat(3, 1)},
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
	for name, want := range map[v1alpha1.Metric]bool{"p95": true, "failureRate": true, "rateLimitedRate": true, "unsentRate": false, "goodput": false} {
		q := Quantity{Metric: "p95", Request: "create"}.Of(Of(name))
		if got := q.Request != ""; got != want || q.Metric != name {
			t.Errorf("%+v: it is of the request: %t, want %t", q, got, want)
		}
	}
	if late := LateTogether(Quantity{Metric: "p42"}, &v1alpha1.StepResult{LateTogether: &v1alpha1.Latency{}}); late.Sign() != 0 {
		t.Errorf("a metric that is not there is late by %v", late)
	}
}
