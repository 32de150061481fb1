package html_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report/reporttest"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/measure/archive"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// The times of expected responses have a plot of their own where some responses were
// others: with the steps in which all were as expected, and without those of which it is
// not known.
func TestExpectedResponsesHaveAPlotByPercentile(t *testing.T) {
	const plot = `aria-label="Response time of expected responses by percentile`
	lt := reporttest.Ladder(t, 100, 200, 300)
	for i := range lt.Status.Steps {
		lt.Status.Steps[i].Result.ResponseTime.Samples = 100
		lt.Status.Steps[i].Result.Outcomes.Success = 60
	}
	lt.Status.Steps[0].Result.Outcomes.Success = 100
	if strings.Contains(page(t, lt), plot) {
		t.Error("there is a plot without the times of expected responses")
	}
	times := measure.NewHistogram()
	for i := range time.Duration(60) {
		times.Record(20*time.Millisecond + i*100*time.Microsecond)
	}
	encoded, err := archive.NewHistogram(times)
	must.Succeed(t, err)
	drawing := func() string {
		_, got, ok := strings.Cut(page(t, lt, &archive.Step{Name: lt.Status.Steps[1].Name, Index: 1, Expected: encoded}), plot)
		if !ok {
			t.Fatal("there is no plot of the expected responses")
		}
		got, _, _ = strings.Cut(got, "</svg>")
		return got
	}
	got := drawing()
	if n, bands := strings.Count(got, `<path class="curve`), strings.Count(got, `<path class="band`); n != 2 || bands != 0 {
		t.Errorf("%d steps are drawn, and %d bands, want those of 100 and 200 users without one:\n%s", n, bands, got)
	}
	r := lt.Status.Steps[1].Result
	ms := func(n int) *metav1.Duration { return &metav1.Duration{Duration: time.Duration(n) * time.Millisecond} }
	r.ExpectedResponseTime = &v1beta1.Latency{P50: ms(20), P90: ms(20)}
	r.ExpectedWithoutGenerator = &v1beta1.Latency{P50: ms(2), P90: ms(2)}
	if got := drawing(); strings.Count(got, `<path class="band`) != 1 {
		t.Errorf("the generator's delay is visible, and there is no band:\n%s", got)
	}
}
