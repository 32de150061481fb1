package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// RequestHeads are the heads of what Requests returns, behind the step's.
var RequestHeads = []string{"request", "failures", "sent", "failed", "p50", "p95", "p99"}

// Requests has a row for each request of a step, if it has several.
func Requests(r *v1beta1.StepResult) [][]string {
	if len(r.Requests)+int(r.RequestsOmitted) < 2 {
		return nil
	}
	rows := make([][]string, len(r.Requests))
	for i := range r.Requests {
		of := &r.Requests[i]
		t := cmp.Or(of.ResponseTime, &v1beta1.Latency{})
		rows[i] = []string{
			of.Name, whyFailed(&of.Counts), fmt.Sprint(of.Sent), fmt.Sprintf("%d%s", of.Failed, share(of.Failed, of.Sent-of.InFlight)),
			Brief(t.P50), Brief(t.P95), Brief(t.P99),
		}
	}
	return rows
}

// Omitted says how many requests of a step have no row; empty: none.
func Omitted(r *v1beta1.StepResult) string {
	if r.RequestsOmitted == 0 {
		return ""
	}
	return fmt.Sprintf("%s with fewer failures stand in the step's archive alone.", text.Plural(int64(r.RequestsOmitted), "more request"))
}

// whyFailed are the classes of the failures of a request, and its status codes.
func whyFailed(c *v1beta1.Counts) string {
	if c.Failed == 0 {
		return ""
	}
	why := failures(c)
	if codes := StatusCodes(c); codes != "" {
		why += " (" + codes + ")"
	}
	return why
}

// Sample is a message of a failing outcome of a request.
type Sample struct{ Request, Outcome, Message string }

// Samples are the messages of a step, in the order of its requests.
func Samples(r *v1beta1.StepResult) []Sample {
	var list []Sample
	for i := range r.Requests {
		for _, e := range r.Requests[i].ErrorSamples {
			list = append(list, Sample{r.Requests[i].Name, e.Outcome, withoutName(e.Message, r.Requests[i].Name)})
		}
	}
	return list
}

// withoutName is the message of a request without its name, which stands beside it.
func withoutName(message, request string) string {
	return strings.TrimPrefix(message, fmt.Sprintf("request %q: ", request))
}

// maxWorst is how many requests Worst names.
const maxWorst = 3

// Worst names the requests that failed most, of a run that is Failed and sent several; empty:
// none failed.
func Worst(s *v1beta1.LoadTestStatus) string {
	if s.Verdict != v1beta1.VerdictFailed {
		return ""
	}
	sums := make([]v1beta1.RequestResult, len(s.Requests))
	for i := range s.Steps {
		if r := s.Steps[i].Result; r != nil && s.Steps[i].Side != v1beta1.SideControl {
			addRequests(sums, s.Requests, r.Requests)
		}
	}
	return Failing(sums)
}

// Failing names the requests of a mix that failed most: "me 84 of 84, search 42 of 42".
func Failing(requests []v1beta1.RequestResult) string {
	if len(requests) < 2 {
		return ""
	}
	worst := slices.DeleteFunc(slices.Clone(requests), func(r v1beta1.RequestResult) bool { return r.Failed == 0 })
	slices.SortStableFunc(worst, func(a, b v1beta1.RequestResult) int { return cmp.Compare(b.Failed, a.Failed) })
	var names []string
	for _, r := range worst[:min(len(worst), maxWorst)] {
		names = append(names, fmt.Sprintf("%s %d of %d", r.Name, r.Failed, r.Sent-r.InFlight))
	}
	if more := len(worst) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(names, ", ")
}

// addRequests adds the counts of a step to those of the requests of the run, by their names.
func addRequests(sums []v1beta1.RequestResult, all []v1beta1.RequestStatus, results []v1beta1.RequestResult) {
	for i := range all {
		n := i // names that are not given may be equal
		if len(results) != len(all) {
			n = slices.IndexFunc(results, func(r v1beta1.RequestResult) bool { return r.Name == all[i].Name })
		}
		if n < 0 {
			continue
		}
		sums[i].Name = all[i].Name
		sums[i].Sent += results[n].Sent
		sums[i].Failed += results[n].Failed
		sums[i].InFlight += results[n].InFlight
	}
}

// requests is a table of the requests of a step, each with why it failed below it. Of one
// request, the lines above say all but that.
func (p *page) requests(r *v1beta1.StepResult) {
	rows := Requests(r)
	if rows == nil {
		for _, sample := range Samples(r) {
			p.row("", "%s: %s", sample.Outcome, sample.Message)
		}
		return
	}
	const why = 1
	cells := make([][]string, len(rows))
	for i := range rows {
		cells[i] = slices.Delete(slices.Clone(rows[i]), why, why+1)
	}
	lines := aligned(slices.Delete(slices.Clone(RequestHeads), why, why+1), cells)
	p.line("")
	p.line("By request")
	p.line("%s", lines[0])
	for i := range rows {
		p.line("%s", lines[i+1])
		if rows[i][why] != "" {
			p.line("    %s", rows[i][why])
		}
		for _, e := range r.Requests[i].ErrorSamples {
			p.line("    %s: %s", e.Outcome, withoutName(e.Message, r.Requests[i].Name))
		}
	}
	if omitted := Omitted(r); omitted != "" {
		p.line("  %s", omitted)
	}
}
