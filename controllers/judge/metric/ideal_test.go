package metric_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/metric"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func TestFiguresWithoutTheGeneratorsDelay(t *testing.T) {
	of := func(d time.Duration) *v1beta1.Latency { return &v1beta1.Latency{P95: &metav1.Duration{Duration: d}} }
	result := &v1beta1.StepResult{Due: 200, Unsent: 10, UnsentByGenerator: 8, Excused: 3, ResponseTime: of(40 * time.Millisecond), Goodput: "18"}
	result.Sent, result.Failed = 100, 4
	values := func() map[v1beta1.Metric][2]string {
		all := map[v1beta1.Metric][2]string{}
		for _, f := range metric.Figures(result, nil) {
			all[f.Metric] = [2]string{f.Value, f.WithoutGenerator}
		}
		return all
	}
	if got, want := values()["p95"], ([2]string{"40ms", ""}); got != want {
		t.Errorf("p95 of an old result is %v, want %v", got, want)
	}
	result.WithoutGenerator, result.Undecided = of(15*time.Millisecond), 1
	for name, want := range map[v1beta1.Metric][2]string{
		"p95": {"40ms", "15ms"}, "failureRate": {"4%", "0%"}, "unsentRate": {"5%", "1%"}, "goodput": {"18", ""}, "rateLimitedRate": {"0%", "3%"},
	} {
		if got := values()[name]; got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
}

// What failed by the generator's doing, and what it did not send, might have been answered.
func TestRatesWithoutTheGeneratorsFailures(t *testing.T) {
	for name, tc := range map[string]struct {
		edit                func(*v1beta1.StepResult)
		goodput, throughput string
	}{
		"nothing":         {func(*v1beta1.StepResult) {}, "100", "120"},
		"excused":         {func(r *v1beta1.StepResult) { r.Excused = 10 }, "105", "125"},
		"no ports":        {func(r *v1beta1.StepResult) { r.Outcomes.Other, r.Generator.PortsExhausted = 10, 30 }, "105", "125"},
		"no descriptors":  {func(r *v1beta1.StepResult) { r.Outcomes.Other, r.Generator.DescriptorsExhausted = 10, 4 }, "102", "122"},
		"of another kind": {func(r *v1beta1.StepResult) { r.Outcomes.Other = 10 }, "100", "120"},
		"unsent":          {func(r *v1beta1.StepResult) { r.UnsentByGenerator = 20 }, "110", "130"},
		"sessions": {func(r *v1beta1.StepResult) {
			r.UnsentByGenerator, r.Sessions = 4, &v1beta1.SessionsResult{Due: 54, Started: 50}
		}, "110", "130"},
		"held up":       {func(r *v1beta1.StepResult) { r.Generator.HeldUp = "20%" }, "125", "150"},
		"held up a bit": {func(r *v1beta1.StepResult) { r.Generator.HeldUp = "<0.01%" }, "100", "120"},
		"no success":    {func(r *v1beta1.StepResult) { r.Excused, r.Outcomes.Success = 10, 0 }, "100", "125"},
	} {
		r := &v1beta1.StepResult{Goodput: "100", Throughput: "120", Generator: &v1beta1.GeneratorStatus{}}
		r.Sent, r.Completed, r.Outcomes.Success = 250, 240, 200
		tc.edit(r)
		for of, want := range map[v1beta1.Metric]string{"goodput": tc.goodput, "throughput": tc.throughput} {
			if got := metric.Text(of, metric.Ideal(metric.Quantity{Metric: of}, r)); got != want {
				t.Errorf("%s: %s is %s, want %s", name, of, got, want)
			}
		}
	}
}

// An excused timeout may have been answered at once, so that a quantile is that of a lower rank: from the
// histogram or, where there is none, the next lower one that is known. The
// histogram has three digits.
func TestTimesWithoutExcusedTimeouts(t *testing.T) {
	ms := func(n int64) *metav1.Duration { return &metav1.Duration{Duration: time.Duration(n) * time.Millisecond} }
	h := measure.NewHistogram()
	for i := range int64(900) {
		h.Record(ms(i/100 + 1).Duration)
	}
	h.RecordN(time.Second, 100)
	encoded, err := h.Encode()
	must.Succeed(t, err)
	for name, tc := range map[string]struct {
		excused            int64
		histogram          string
		p95, longest, mean string
	}{
		"none":                            {0, encoded, "1000ms", "1000ms", "104.5ms"},
		"some":                            {20, encoded, "1000ms", "1000ms", "84.512ms"},
		"so many that another decides":    {60, encoded, "9.007ms", "1000ms", "44.494ms"},
		"all":                             {100, encoded, "9.007ms", "9.007ms", "4.476ms"},
		"of a part, some":                 {20, "", "9ms", "1000ms", "84.5ms"},
		"of a part, all":                  {100, "", "7ms", "9ms", "4.5ms"},
		"of a part, more than are known":  {600, "", "0ms", "0ms", "0ms"},
		"of a histogram that is not read": {100, "?", "7ms", "9ms", "4.5ms"},
	} {
		l := &v1beta1.Latency{Samples: 1000, P50: ms(5), P75: ms(7), P90: ms(9), P95: ms(1000), P99: ms(1000), Longest: ms(1000), Mean: &metav1.Duration{Duration: 104500 * time.Microsecond}}
		r := &v1beta1.StepResult{Excused: tc.excused, Histogram: tc.histogram, ResponseTime: l}
		q := metric.Quantity{}
		if tc.histogram == "" {
			part := v1beta1.PartResult{Excused: tc.excused, ResponseTime: l}
			r, q.Type = &v1beta1.StepResult{Histogram: encoded, Types: []v1beta1.TypeResult{{Name: "Read", PartResult: part}}}, "Read"
		}
		for of, want := range map[v1beta1.Metric]string{"p95": tc.p95, "longest": tc.longest, "mean": tc.mean} {
			q.Metric = of
			if got := metric.Text(of, metric.Ideal(q, r)); got != want {
				t.Errorf("%s: %s is %s, want %s", name, of, got, want)
			}
		}
		if l.P95.Duration != time.Second {
			t.Errorf("%s: the result was changed", name)
		}
	}
}

// A rank is exact, however many requests there are: no share of them in floating point is.
func TestTheLongestTimeButOneOfMillions(t *testing.T) {
	h := measure.NewHistogram()
	h.RecordN(time.Millisecond, 18_510_304)
	h.Record(time.Second)
	same.As(t, "longest", time.Millisecond, metric.Of("longest").Below(h, 1))
}

func TestFiguresOfATypeWithoutTheGeneratorsDelay(t *testing.T) {
	of := func(d time.Duration) *v1beta1.Latency { return &v1beta1.Latency{P95: &metav1.Duration{Duration: d}} }
	read := v1beta1.TypeResult{Name: "Read", PartResult: v1beta1.PartResult{Excused: 3, Undecided: 5, ResponseTime: of(40 * time.Millisecond), WithoutGenerator: of(15 * time.Millisecond)}}
	read.Sent, read.Failed = 100, 10
	write := v1beta1.TypeResult{Name: "Write", PartResult: v1beta1.PartResult{ResponseTime: of(30 * time.Millisecond)}}
	result := &v1beta1.StepResult{Types: []v1beta1.TypeResult{read, write}, Requests: []v1beta1.RequestResult{{Name: "create", PartResult: read.PartResult}}}
	for q, want := range map[metric.Quantity][2]string{
		{Metric: "p95", Type: "Read"}:              {"40ms", "15ms"},
		{Metric: "failureRate", Type: "Read"}:      {"10%", "2%"},
		{Metric: "p95", Type: "Write"}:             {"30ms", "30ms"},
		{Metric: "p95", Request: "create"}:         {"40ms", "15ms"},
		{Metric: "failureRate", Request: "create"}: {"10%", "2%"},
	} {
		measured, ideal := metric.Value(q, result), metric.Ideal(q, result)
		if got := ([2]string{metric.Text(q.Metric, measured), metric.Text(q.Metric, ideal)}); got != want {
			t.Errorf("%s of %s is %v, want %v", q.Metric, q.Type, got, want)
		}
	}
}

// What late requests may have done to one another goes with each time, and with nothing else.
func TestFiguresOfLateRequests(t *testing.T) {
	of := func(d time.Duration) *v1beta1.Latency { return &v1beta1.Latency{P95: &metav1.Duration{Duration: d}} }
	result := &v1beta1.StepResult{ResponseTime: of(40 * time.Millisecond), LateTogether: of(3 * time.Millisecond), Goodput: "18"}
	result.Types = []v1beta1.TypeResult{{Name: "Read", PartResult: v1beta1.PartResult{ResponseTime: of(20 * time.Millisecond)}}}
	result.Sent = 100
	got := map[string]string{}
	for _, f := range metric.Figures(result, []metric.Quantity{{Metric: "p95", Type: "Read"}, {Metric: "failureRate", Type: "Read"}}) {
		if f.LateTogether != "" {
			got[string(f.Metric)+f.Type] = f.LateTogether
		}
	}
	same.As(t, "late together", map[string]string{"p95": "3ms", "p95Read": "3ms"}, got)
}
