package report_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report/reporttest"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// TestTextParsesBackIntoTheSameNumbers reads the figures of every step out of the
// text again: none is rounded, and none is in the wrong place.
func TestTextParsesBackIntoTheSameNumbers(t *testing.T) {
	for name, lt := range reporttest.All(t, "testdata") {
		t.Run(name, func(t *testing.T) {
			var want []*v1beta1.StepResult
			for i := range lt.Status.Steps {
				if r := lt.Status.Steps[i].Result; r != nil {
					want = append(want, printed(r))
				}
			}
			same.As(t, "the text reads otherwise", want, parseText(t, report.Text(lt)))
		})
	}
}

// printed is the part of a result that the text has to the last digit.
func printed(r *v1beta1.StepResult) *v1beta1.StepResult {
	p := &v1beta1.StepResult{
		Due: r.Due, Unsent: r.Unsent, Late: r.Late, Displaced: r.Displaced, Downtime: report.Downtime(r), Throughput: r.Throughput, Goodput: r.Goodput, ItemsPerSecond: r.ItemsPerSecond,
		RateLimit: r.RateLimit,
	}
	p.RequestsOmitted = r.RequestsOmitted
	for _, of := range r.Requests {
		for i := range of.ErrorSamples {
			of.ErrorSamples[i].Message = strings.TrimPrefix(of.ErrorSamples[i].Message, fmt.Sprintf("request %q: ", of.Name))
		}
		if len(r.Requests) == 1 { // the lines of the step are its own
			p.Requests = append(p.Requests, v1beta1.RequestResult{ErrorSamples: of.ErrorSamples})
			continue
		}
		p.Requests = append(p.Requests, v1beta1.RequestResult{Name: of.Name, ErrorSamples: of.ErrorSamples,
			PartResult: v1beta1.PartResult{Counts: v1beta1.Counts{Sent: of.Sent, Failed: of.Failed}}})
	}
	p.Sent, p.Failed, p.InFlight, p.Outcomes, p.StatusCodes = r.Sent, r.Failed, r.InFlight, r.Outcomes, r.StatusCodes
	for _, of := range r.Types {
		p.Types = append(p.Types, v1beta1.TypeResult{Name: of.Name, PartResult: v1beta1.PartResult{Counts: v1beta1.Counts{Sent: of.Sent,
			Outcomes: v1beta1.Outcomes{Success: of.Outcomes.Success, RateLimited: of.Outcomes.RateLimited}}}})
	}
	if r.ResponseTime != nil {
		p.ResponseTime, p.ServiceTime = timesOf(r.ResponseTime), timesOf(r.ServiceTime)
	}
	if r.WithoutGenerator != nil {
		p.WithoutGenerator = timesOf(r.WithoutGenerator)
	}
	if r.ExpectedResponseTime != nil {
		p.ExpectedResponseTime, p.ExpectedServiceTime = timesOf(r.ExpectedResponseTime), timesOf(r.ExpectedServiceTime)
	}
	if r.Traces != nil {
		p.Traces = &v1beta1.TraceResult{Sampled: r.Traces.Sampled, Slowest: named(r.Traces.Slowest), Failed: named(r.Traces.Failed)}
	}
	return p
}

// named are traced requests without what they took, which is rounded.
func named(list []v1beta1.TracedRequest) []v1beta1.TracedRequest {
	var all []v1beta1.TracedRequest
	for _, r := range list {
		all = append(all, v1beta1.TracedRequest{TraceID: r.TraceID, Request: r.Request})
	}
	return all
}

// timesOf is a distribution without its number of samples.
func timesOf(l *v1beta1.Latency) *v1beta1.Latency {
	if l == nil {
		return &v1beta1.Latency{}
	}
	times := *l
	times.Samples = 0
	return &times
}

var (
	requestsLine = regexp.MustCompile(`^due (\d+) · sent (\d+).* · unsent (\d+) · late (\d+)(?: · displaced (\d+) \(\S+\))?(?: · redirects followed \d+)?(?: · in flight (\d+))?$`)
	ratesLine    = regexp.MustCompile(`^(\S+) req/s    goodput (\S+) req/s(?:    (\S+) items/s)?$`)
	classPart    = regexp.MustCompile(`^(.*) (\d+)$`)
	traceLine    = regexp.MustCompile(`^\S+(?: \(service time \S+\))? \S+ trace ([0-9a-f]{32}) (.+)$`)
	requestLine  = regexp.MustCompile(`^  (\S.*?) +(\d+) +(\d+) \(\S+\) `)
	sampleLine   = regexp.MustCompile(`^    (\w+): (.+)$`)
	omittedLine  = regexp.MustCompile(`^  (\d+) more requests`)
	typeLine     = regexp.MustCompile(`^(.*) (\d+) total, (\d+) successful[^,]*(?:, (\d+) rate limited)?`)
)

// parseText reads the blocks of the steps, each from its line of requests on.
func parseText(t *testing.T, text string) []*v1beta1.StepResult {
	t.Helper()
	var list []*v1beta1.StepResult
	label, byRequest := "", false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if byRequest = line == "By request" || byRequest && line != ""; byRequest {
			takeRequest(t, list[len(list)-1], line)
			continue
		}
		if len([]rune(line)) <= 20 {
			continue
		}
		if at := strings.TrimRight(line[:20], " "); at != "" {
			label = at
		}
		value := line[20:]
		if m := requestsLine.FindStringSubmatch(value); label == "Requests" && m != nil {
			r := &v1beta1.StepResult{Due: whole(t, m[1]), Unsent: whole(t, m[3]), Late: whole(t, m[4])}
			r.Sent, r.Displaced, r.InFlight = whole(t, m[2]), whole(t, m[5]), whole(t, m[6])
			list = append(list, r)
			continue
		}
		if len(list) > 0 {
			take(t, list[len(list)-1], label, value)
		}
	}
	return list
}

// take reads a line of a step's block.
func take(t *testing.T, r *v1beta1.StepResult, label, value string) {
	t.Helper()
	first, _, _ := strings.Cut(value, " ")
	switch label {
	case "Successful":
		r.Outcomes.Success = whole(t, first)
	case "Rate limited":
		r.Outcomes.RateLimited = whole(t, first)
	case "Failed":
		r.Failed = whole(t, first)
	case "Downtime":
		r.Downtime = first
	case "Throughput":
		m := ratesLine.FindStringSubmatch(value)
		r.Throughput, r.Goodput, r.ItemsPerSecond = m[1], m[2], m[3]
	case "Failures":
		takeFailures(t, r, value)
	case "Status codes":
		for _, part := range strings.Split(value, " · ") {
			if code, n, _ := strings.Cut(part, ": "); code != "others" {
				r.StatusCodes = append(r.StatusCodes, v1beta1.StatusCodeCount{Code: int32(whole(t, code)), Count: whole(t, n)})
			}
		}
	case "By type":
		m := typeLine.FindStringSubmatch(value)
		r.Types = append(r.Types, v1beta1.TypeResult{Name: m[1], PartResult: v1beta1.PartResult{Counts: v1beta1.Counts{Sent: whole(t, m[2]),
			Outcomes: v1beta1.Outcomes{Success: whole(t, m[3]), RateLimited: whole(t, m[4])}}}})
	case "Rate limit check":
		r.RateLimit = &v1beta1.RateLimitStatus{}
	case "  Clients":
		r.RateLimit.Clients = whole(t, value)
	case "  Granted":
		r.RateLimit.Granted = whole(t, value)
	case "  Denied":
		r.RateLimit.Denied = whole(t, value)
	case "  Over-limit grants":
		r.RateLimit.OverLimitGrants = whole(t, value)
	case "  False denials":
		r.RateLimit.FalseDenials = whole(t, value)
	case "  Not audited":
		r.RateLimit.Untracked = whole(t, first)
	case "Latency":
		r.ResponseTime, r.ServiceTime = &v1beta1.Latency{}, &v1beta1.Latency{}
	case "Of expected":
		r.ExpectedResponseTime, r.ExpectedServiceTime = &v1beta1.Latency{}, &v1beta1.Latency{}
	case "Traces":
		sampled, _, _ := strings.Cut(value, " ")
		r.Traces = &v1beta1.TraceResult{Sampled: whole(t, sampled)}
	case "  slowest":
		r.Traces.Slowest = append(r.Traces.Slowest, takeTrace(t, value))
	case "  failed":
		r.Traces.Failed = append(r.Traces.Failed, takeTrace(t, value))
	default:
		takeTime(t, r, strings.TrimSpace(label), value)
	}
}

// takeRequest reads a line of the requests of a step.
func takeRequest(t *testing.T, r *v1beta1.StepResult, line string) {
	t.Helper()
	if m := omittedLine.FindStringSubmatch(line); m != nil {
		r.RequestsOmitted = int32(whole(t, m[1]))
	} else if m := requestLine.FindStringSubmatch(line); m != nil {
		r.Requests = append(r.Requests, v1beta1.RequestResult{Name: m[1], PartResult: v1beta1.PartResult{Counts: v1beta1.Counts{Sent: whole(t, m[2]), Failed: whole(t, m[3])}}})
	} else if m := sampleLine.FindStringSubmatch(line); m != nil {
		last := &r.Requests[len(r.Requests)-1]
		last.ErrorSamples = append(last.ErrorSamples, v1beta1.ErrorSample{Outcome: m[1], Message: m[2]})
	}
}

// takeTrace reads which request it is, and its trace.
func takeTrace(t *testing.T, value string) v1beta1.TracedRequest {
	t.Helper()
	m := traceLine.FindStringSubmatch(value)
	if m == nil {
		t.Fatalf("%q is no trace", value)
	}
	return v1beta1.TracedRequest{TraceID: m[1], Request: m[2]}
}

// takeFailures reads the classes, and the samples of errors in the lines below.
func takeFailures(t *testing.T, r *v1beta1.StepResult, value string) {
	t.Helper()
	o := &r.Outcomes
	classes := map[string]*int64{
		"timeouts": &o.Timeout, "server errors": &o.ServerError, "client errors": &o.ClientError, "unexpected status": &o.UnexpectedStatus,
		"connection refused": &o.Refused, "connection reset": &o.Reset, "host not resolved": &o.DNS, "TLS": &o.TLS,
		"bad response": &o.BadResponse, "stream broken off": &o.BrokenOff, "stream stalled": &o.Stalled, "stream ended early": &o.EndedEarly, "unfinished at the end": &o.Unfinished, "other": &o.Other, "rate limited": new(int64),
	}
	if outcome, message, ok := strings.Cut(value, ": "); ok {
		addSample(r, v1beta1.ErrorSample{Outcome: outcome, Message: message})
		return
	}
	for _, part := range strings.Split(value, " · ") {
		if m := classPart.FindStringSubmatch(part); m != nil {
			*classes[m[1]] = whole(t, m[2])
		}
	}
}

func takeTime(t *testing.T, r *v1beta1.StepResult, name, value string) {
	t.Helper()
	of := func(l *v1beta1.Latency) map[string]**metav1.Duration {
		return map[string]**metav1.Duration{"min": &l.Min, "mean": &l.Mean, "p50": &l.P50, "p75": &l.P75, "p90": &l.P90, "p95": &l.P95,
			"p99": &l.P99, "p99.9": &l.P999, "p99.99": &l.P9999, "longest": &l.Longest}
	}
	response, service := r.ResponseTime, r.ServiceTime
	if r.ExpectedResponseTime != nil {
		response, service = r.ExpectedResponseTime, r.ExpectedServiceTime // they come second
	}
	if response == nil || of(response)[name] == nil {
		return
	}
	*of(response)[name] = exact(t, value[:34])
	*of(service)[name] = exact(t, value[34:min(68, len(value))])
	if len(value) > 68 {
		if r.WithoutGenerator == nil {
			r.WithoutGenerator = &v1beta1.Latency{}
		}
		*of(r.WithoutGenerator)[name] = exact(t, value[68:])
	}
}

func exact(t *testing.T, text string) *metav1.Duration {
	t.Helper()
	if text = strings.TrimSpace(text); text == report.TooFew {
		return nil
	}
	d, err := time.ParseDuration(text)
	must.Succeed(t, err)
	return &metav1.Duration{Duration: d}
}

// whole is 0 for what is not there.
func whole(t *testing.T, text string) int64 {
	t.Helper()
	if text == "" {
		return 0
	}
	n, err := strconv.ParseInt(text, 10, 64)
	must.Succeed(t, err)
	return n
}

// addSample keeps a sample among those of one request: a line does not name its own.
func addSample(r *v1beta1.StepResult, sample v1beta1.ErrorSample) {
	if len(r.Requests) == 0 {
		r.Requests = make([]v1beta1.RequestResult, 1)
	}
	r.Requests[0].ErrorSamples = append(r.Requests[0].ErrorSamples, sample)
}
