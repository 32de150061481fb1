package runmetrics_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/prometheus/common/expfmt"
	"k8s.io/apimachinery/pkg/types"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// BenchmarkScrape is of as many LoadTests as have series by default, 50 of which run, and of the
// page that Prometheus reads.
func BenchmarkScrape(b *testing.B) {
	for _, requests := range []int{1, 4, 32} {
		b.Run(fmt.Sprintf("requests=%d", requests), func(b *testing.B) { benchmarkScrape(b, requests) })
	}
}

func benchmarkScrape(b *testing.B, requests int) {
	const all, run = 300, 50
	o := newOperator(&testing.T{})
	o.Most, o.MostRequests = all, 1000
	for i := range all {
		lt := running(fmt.Sprint("test-", i))
		lt.Status.Requests = nil
		r := result(&testing.T{}, 1000)
		one := r.Requests[0]
		r.Requests = nil
		m := measure.NewMeasurement(requests)
		m.Requests[0] = report(0, 1000).Merged.Requests[0]
		for j := range requests {
			one.Name = fmt.Sprint("GET /items/", j)
			r.Requests = append(r.Requests, one)
			lt.Status.Requests = append(lt.Status.Requests, v1beta1.RequestStatus{Name: one.Name})
			m.Requests[j].Sent, m.Requests[j].Expected, m.Requests[j].Outcomes = 1002, 1000, m.Requests[0].Outcomes
		}
		grouped, err := m.Group(make([]int32, requests)) // as workers tell it while a step runs
		must.Succeed(b, err)
		o.live[lt.UID] = &exchange.Report{Merged: grouped}
		if i >= run {
			lt.Status.Verdict, lt.Status.Steps[0].State, lt.Status.Steps[0].Result = v1beta1.VerdictPassed, v1beta1.StepComplete, r
			o.Finished(lt.UID, &lt.Status)
			lt = stripped(lt, v1beta1.VerdictPassed, 0)
		} else {
			counts := *r
			counts.Requests, counts.Histogram = slices.Clone(r.Requests), ""
			for j := range counts.Requests {
				counts.Requests[j].ResponseTime = nil
			}
			lt.Status.Steps[0].Result = &counts
		}
		o.list = append(o.list, lt)
	}
	page := bytes.Buffer{}
	for b.Loop() {
		families, err := o.registry.Gather()
		if err != nil {
			b.Fatal(err)
		}
		page.Reset()
		for _, f := range families {
			if _, err := expfmt.MetricFamilyToText(&page, f); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(bytes.Count(page.Bytes(), []byte("\nloadtest_"))), "series")
	b.ReportMetric(float64(page.Len()), "bytes/page")
}

// BenchmarkFinished is what a pass pays for a run of eight steps, once.
func BenchmarkFinished(b *testing.B) {
	o := newOperator(&testing.T{})
	o.Most = 1 << 30
	lt := running("a")
	step := lt.Status.Steps[0]
	step.State, step.Result = v1beta1.StepComplete, result(&testing.T{}, 100_000)
	status := v1beta1.LoadTestStatus{Verdict: v1beta1.VerdictPassed}
	for range 8 {
		status.Steps = append(status.Steps, step)
	}
	for i := 0; b.Loop(); i++ {
		o.Finished(types.UID(fmt.Sprint(i%500)), &status)
		o.Forget()
	}
}
