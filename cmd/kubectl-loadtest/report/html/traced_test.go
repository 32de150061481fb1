package html_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report/reporttest"
	"github.com/loadtest-dev/loadtest-operator/measure/archive"
)

// A request of the plan has its own traces in the stored results: the status has those of a
// step as a whole.
func TestStoredTracesAreListedByRequest(t *testing.T) {
	lt := reporttest.Ladder(t, 100, 200)
	const title = "Traces by request"
	if strings.Contains(page(t, lt), title) {
		t.Error("there is a table without stored traces")
	}
	step := &archive.Step{Name: lt.Status.Steps[1].Name, Index: 1, Requests: []archive.Request{
		{Name: "follow"},
		{Name: "create", Traces: []archive.Trace{
			{ID: strings.Repeat("a", 32), Outcome: "success", Status: 201, ResponseMicros: 12_000, ServiceMicros: 11_000},
			{ID: strings.Repeat("b", 32), Outcome: "timeout", ResponseMicros: math.MaxInt64, ServiceMicros: 1000},
		}},
	}}
	_, got, _ := strings.Cut(page(t, lt, step), title)
	got, _, _ = strings.Cut(got, "</table>")
	for _, want := range []string{"200 users", "create", strings.Repeat("a", 32), "201", "12ms", "11ms", "timeout"} {
		if !strings.Contains(got, ">"+want+"<") {
			t.Errorf("the table has no %s:\n%s", want, got)
		}
	}
	if strings.Contains(got, "follow") || strings.Contains(got, ">-") {
		t.Errorf("a request without traces is listed, or a time is negative:\n%s", got)
	}
	step.Index = 0
	if strings.Contains(page(t, lt, step), title) {
		t.Error("the traces of another step are listed")
	}
}

// A page stays readable, and says what it leaves out.
func TestStoredTracesAreBounded(t *testing.T) {
	lt := reporttest.Ladder(t, 100)
	step := &archive.Step{Name: lt.Status.Steps[0].Name}
	for i := range 60 {
		r := archive.Request{Name: fmt.Sprint("call", i)}
		for j := range 10 {
			r.Traces = append(r.Traces, archive.Trace{ID: fmt.Sprintf("%032x", i*10+j), Outcome: "success", Status: 200})
		}
		step.Requests = append(step.Requests, r)
	}
	got := page(t, lt, step)
	if n := strings.Count(got, ">call"); n != 500 {
		t.Errorf("%d traces are listed, want 500", n)
	}
	if !strings.Contains(got, "100 more are in the stored results.") {
		t.Error("the page does not say that traces were left out")
	}
}
