package report

import (
	"fmt"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// TraceHeads are those of Traces.
var TraceHeads = append([]string{"kind", "request"}, TracedHeads...)

// TracedHeads are those of Traced.
var TracedHeads = []string{"trace", "outcome", "status", "response time", "service time"}

// TraceNote says what service time is beside a trace.
const TraceNote = "The trace shows only the service time: the time that a request waited before it was sent is not the target's."

// Traces has a row for each request of a step whose trace is named: those that took
// longest, then some that failed.
func Traces(r *v1beta1.StepResult) [][]string {
	if r.Traces == nil {
		return nil
	}
	var rows [][]string
	add := func(kind string, list []v1beta1.TracedRequest) {
		for i := range list {
			rows = append(rows, append([]string{kind, list[i].Request}, Traced(&list[i])...))
		}
	}
	add("slowest", r.Traces.Slowest)
	add("failed", r.Traces.Failed)
	return rows
}

// Traced are the columns of a request from its trace on.
func Traced(t *v1beta1.TracedRequest) []string {
	return []string{t.TraceID, t.Outcome, statusOf(t), text.Short(t.ResponseTime.Duration), text.Short(t.ServiceTime.Duration)}
}

// Sampled says how many requests of a step asked for a trace, "" if none has one.
func Sampled(r *v1beta1.StepResult) string {
	if r.Traces == nil {
		return ""
	}
	return fmt.Sprintf("%d of %d requests sampled", r.Traces.Sampled, r.Sent)
}

func statusOf(t *v1beta1.TracedRequest) string {
	if !responded(t) {
		return "–"
	}
	return measure.StatusName(int(t.StatusCode))
}

// responded says whether a request has a status, which is 0 for OK of gRPC, too.
func responded(t *v1beta1.TracedRequest) bool {
	return t.StatusCode != 0 || t.Outcome == measure.Success.String() || t.Outcome == measure.UnexpectedStatus.String()
}

// traces are the requests of a step by which to go on in a tracing backend.
func (p *page) traces(r *v1beta1.StepResult) {
	if r.Traces == nil {
		return
	}
	p.line("")
	p.row("Traces", "%s", Sampled(r))
	label := "  slowest"
	for i := range r.Traces.Slowest {
		p.row(label, "%s", ofTrace(&r.Traces.Slowest[i]))
		label = ""
	}
	label = "  failed"
	for i := range r.Traces.Failed {
		p.row(label, "%s", ofTrace(&r.Traces.Failed[i]))
		label = ""
	}
}

// ofTrace is a request in a line: how long it took, what became of it, and its trace.
func ofTrace(t *v1beta1.TracedRequest) string {
	took, what := text.Short(t.ResponseTime.Duration), t.Outcome
	if t.ServiceTime.Duration < t.ResponseTime.Duration/10*9 {
		took += " (service time " + text.Short(t.ServiceTime.Duration) + ")"
	}
	if responded(t) {
		what = measure.StatusName(int(t.StatusCode))
	}
	return fmt.Sprintf("%s %s trace %s %s", took, what, t.TraceID, t.Request)
}
