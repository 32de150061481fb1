package report

import (
	"fmt"
	"strings"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// refusedWell is how many requests were rate-limited as expected: a response that was
// expected is a success or such an answer.
func refusedWell(c *v1beta1.Counts) int64 { return c.Expected - c.Outcomes.Success }

// limitedBy names the statuses of requests that were rate-limited, as far as they are known.
func limitedBy(c *v1beta1.Counts) string {
	var names []string
	for _, code := range c.StatusCodes {
		if measure.IsRateLimited(int(code.Code)) {
			names = append(names, measure.StatusName(int(code.Code)))
		}
	}
	if len(names) == 0 {
		return ""
	}
	return " with " + strings.Join(names, " and ")
}

// asExpected says how many of the requests that were rate-limited are no failures.
func asExpected(c *v1beta1.Counts) string {
	switch n := refusedWell(c); n {
	case 0:
		return ""
	case c.Outcomes.RateLimited:
		return ", as expected"
	default:
		return fmt.Sprintf(", %d of them expected", n)
	}
}

// Class is a class of outcomes, and how many requests are in it.
type Class struct {
	Name  string
	Count int64
	// outcome is the name of the outcome in statuses.
	outcome string
}

// Failures divides the failed requests: the parts add up to Counts.Failed. All
// classes are there, in the order of the reports.
func Failures(c *v1beta1.Counts) []Class {
	o := &c.Outcomes
	return []Class{
		{"rate limited", o.RateLimited - refusedWell(c), "rateLimited"},
		{"timeouts", o.Timeout, "timeout"},
		{"server errors", o.ServerError, "serverError"},
		{"client errors", o.ClientError, "clientError"},
		{"unexpected status", o.UnexpectedStatus, "unexpectedStatus"},
		{"connection refused", o.Refused, "refused"},
		{"connection reset", o.Reset, "reset"},
		{"host not resolved", o.DNS, "dns"},
		{"TLS", o.TLS, "tls"},
		{"bad response", o.BadResponse, "badResponse"},
		{"stream broken off", o.BrokenOff, "brokenOff"},
		{"stream stalled", o.Stalled, "stalled"},
		{"stream ended early", o.EndedEarly, "endedEarly"},
		{"unfinished at the end", o.Unfinished, "unfinished"},
		{"other", o.Other, "other"},
	}
}

// failures are the classes that have a request, in a line.
func failures(c *v1beta1.Counts) string {
	var parts []string
	for _, class := range Failures(c) {
		if class.Count > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", class.Name, class.Count))
		}
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, " · ")
}

// StatusCodes divides the responses by status code; "" when that is not known.
func StatusCodes(c *v1beta1.Counts) string {
	var parts []string
	others := c.Completed
	for _, code := range c.StatusCodes {
		parts = append(parts, fmt.Sprintf("%s: %d", measure.StatusName(int(code.Code)), code.Count))
		others -= code.Count
	}
	if len(parts) > 0 && others > 0 {
		parts = append(parts, fmt.Sprintf("others: %d", others))
	}
	return strings.Join(parts, " · ")
}
