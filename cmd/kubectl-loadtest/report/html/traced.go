package html

import (
	"fmt"
	"math"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report"
	"github.com/loadtest-dev/loadtest-operator/measure/archive"
)

// mostTraces bounds the table: a step keeps up to measure.MaxTraces of each request.
const mostTraces = 500

// tracesByRequest has the traces that were stored of each request of the plan. The status
// has the slowest and some failures of a step as a whole, so that a request which is fast,
// and never fails, has none there.
func tracesByRequest(s *v1beta1.LoadTestStatus, archived []*archive.Step) table {
	t := table{Title: "Traces by request", Note: "The slowest of each request of the plan, and some failures of each outcome. " + report.TraceNote, Words: 5,
		Heads: append([]string{"step", "request"}, report.TracedHeads...)}
	all := 0
	for _, a := range archived {
		step := stepOf(s, a)
		if step == nil {
			continue
		}
		for i := range a.Requests {
			r := &a.Requests[i]
			all += len(r.Traces)
			for _, stored := range r.Traces[:min(len(r.Traces), mostTraces-len(t.Rows))] {
				t.Rows = append(t.Rows, append([]string{report.Title(step), r.Name}, traced(stored)...))
			}
		}
	}
	if left := all - len(t.Rows); left > 0 {
		t.Note += fmt.Sprintf(" %d more are in the stored results.", left)
	}
	return t
}

// traced are the columns of a stored request from its trace on.
func traced(stored archive.Trace) []string {
	micros := func(n int64) time.Duration { return time.Duration(min(n, math.MaxInt64/1000)) * time.Microsecond }
	return report.Traced(&v1beta1.TracedRequest{
		TraceID: stored.ID, Outcome: stored.Outcome, StatusCode: int32(stored.Status),
		ResponseTime: metav1.Duration{Duration: micros(stored.ResponseMicros)}, ServiceTime: metav1.Duration{Duration: micros(stored.ServiceMicros)},
	})
}
