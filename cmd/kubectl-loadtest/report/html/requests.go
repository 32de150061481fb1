package html

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// requests has a row for each request of each step, the failing ones marked.
func requests(list []v1beta1.StepStatus, link func(step, request int) string) table {
	t := table{Title: "Requests by step", Words: 2, Heads: []string{"request", "step", "sent", "answered", "failed", "sent/s", "p50", "p95", "p99", "max"}}
	var notes []string
	for i := range list {
		step := &list[i]
		if step.Result == nil {
			continue
		}
		for j := range step.Result.Requests {
			of := &step.Result.Requests[j]
			l := cmp.Or(of.ResponseTime, &v1beta1.Latency{})
			t.Rows = append(t.Rows, []string{of.Name, report.Title(step), count(of.Sent), count(of.Completed), byClass(&of.Counts), perSecond(of.Sent, step),
				duration(l.P50), duration(l.P95), duration(l.P99), duration(l.Longest)})
			t.Marked = append(t.Marked, of.Failed > 0)
			if link != nil {
				t.Links = append(t.Links, link(i, j))
			}
		}
		if text := report.Omitted(step.Result); text != "" {
			notes = append(notes, "Step "+step.Name+": "+text)
		}
	}
	t.Note = strings.Join(notes, " ")
	return t
}

// byClass is how many requests failed, and of what in a line each.
func byClass(c *v1beta1.Counts) string {
	said := count(c.Failed)
	if c.Failed == 0 {
		return said
	}
	if share := text.Percent(c.Failed, c.Sent-c.InFlight); share != "" {
		said += " (" + share + ")"
	}
	for _, class := range report.Failures(c) {
		if class.Count > 0 {
			said += "\n" + class.Name + " " + count(class.Count)
		}
	}
	return said
}

// perSecond is a count in the window of a step as a rate.
func perSecond(n int64, step *v1beta1.StepStatus) string {
	if step.Window == nil || step.Window.Duration <= 0 {
		return unknown
	}
	return known(text.Decimal(fmt.Sprintf("%.1f", float64(n)/step.Window.Seconds())))
}

// failed has what each request failed with, over all steps.
func failed(list []v1beta1.StepStatus) table {
	t := table{Title: "Errors by request and message", Note: "Of each request and class of failure, the first message that was seen.", Words: 4,
		Heads: []string{"request", "outcome", "where", "message", "count"}}
	for _, f := range report.FailuresByRequest(list) {
		t.Rows = append(t.Rows, []string{f.Request, f.Class, f.Where, known(f.Message), count(f.Count)})
	}
	return t
}
