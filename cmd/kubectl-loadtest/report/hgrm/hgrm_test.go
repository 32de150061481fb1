package hgrm_test

import (
	"bufio"
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report/hgrm"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report/reporttest"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// point is a line of the percentile output.
type point struct {
	MS, Share float64
	Count     int64
}

// parse reads the percentile output as HdrHistogram's plotter does.
func parse(t *testing.T, data []byte) []point {
	t.Helper()
	var list []point
	lines := bufio.NewScanner(bytes.NewReader(data))
	for lines.Scan() {
		var p point
		var inverse string
		if n, _ := fmt.Sscan(lines.Text(), &p.MS, &p.Share, &p.Count, &inverse); n >= 3 { // Java leaves the last column of the last line out
			list = append(list, p)
		}
	}
	return list
}

func TestDistributionIsThatOfTheStatus(t *testing.T) {
	lt := reporttest.Knee(t)
	for i := range lt.Status.Steps {
		step := &lt.Status.Steps[i]
		data, err := hgrm.Report(lt, step.Name)
		must.Succeed(t, err)
		points := parse(t, data)
		last := points[len(points)-1]
		times := step.Result.ResponseTime
		if last.Count != times.Samples || last.Share != 1 || !near(last.MS, times.Longest) {
			t.Errorf("step %s ends with %+v, want %d samples and %v", step.Name, last, times.Samples, times.Longest.Duration)
		}
		for q, want := range map[float64]*metav1.Duration{0.5: times.P50, 0.75: times.P75, 0.9: times.P90, 0.95: times.P95, 0.99: times.P99} {
			if got := at(points, q); !near(got, want) {
				t.Errorf("step %s: %g of the times are at most %gms, want %v", step.Name, q, got, want.Duration)
			}
		}
	}
}

// at is the value of the first point that holds at least that share.
func at(points []point, q float64) float64 {
	for _, p := range points {
		if p.Share >= q-1e-6 {
			return p.MS
		}
	}
	return math.NaN()
}

// near allows what lies between two points of the output.
func near(ms float64, d *metav1.Duration) bool {
	want := float64(d.Duration) / float64(time.Millisecond)
	return math.Abs(ms-want) <= 0.12*want
}

func TestStepIsChosen(t *testing.T) {
	one, many := reporttest.Ladder(t, 10), reporttest.Knee(t)
	none, broken := reporttest.Ladder(t, 10), reporttest.Ladder(t, 10)
	none.Status.Steps[0].Result.Histogram = ""
	broken.Status.Steps[0].Result.Histogram = "HISTFAAAnonsense"
	tests := map[string]struct {
		lt   *v1beta1.LoadTest
		step string
		want string
	}{
		"the only one":           {lt: one},
		"by name":                {lt: many, step: "500"},
		"no name, several steps": {lt: many, want: `choose with --step "100", "250"`},
		"no such step":           {lt: many, step: "7", want: `--step "7": the steps with a histogram are "100"`},
		"nothing measured":       {lt: none, want: "no step has a histogram"},
		"not decodable":          {lt: broken, want: "step 10: decode histogram"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			data, err := hgrm.Report(test.lt, test.step)
			switch {
			case test.want == "" && (err != nil || len(parse(t, data)) == 0):
				t.Errorf("got %q, %v, want a distribution", data, err)
			case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}
