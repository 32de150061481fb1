package html_test

import (
	"strings"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report/reporttest"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/measure/archive"
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
	times.RecordN(20*time.Millisecond, 60)
	encoded, err := archive.NewHistogram(times)
	if err != nil {
		t.Fatal(err)
	}
	got := page(t, lt, &archive.Step{Name: lt.Status.Steps[1].Name, Index: 1, Expected: encoded})
	at := strings.Index(got, plot)
	if at < 0 {
		t.Fatal("there is no plot of the expected responses")
	}
	drawing, _, _ := strings.Cut(got[at:], "</svg>")
	if n := strings.Count(drawing, `<path class="curve`); n != 2 {
		t.Errorf("%d steps are drawn, want those of 100 and 200 users:\n%s", n, drawing)
	}
}
