package report

import (
	"cmp"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/metric"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// StreamHeads are the heads of what Streams returns, behind the step's.
var StreamHeads = []string{
	"streams", "events", "events/s", "first p50", "first p95", "first p99", "between p50", "between p95", "between p99", "longest gap", "mean gap p95", "tokens/s",
}

// StreamNote says what the times of streams are.
const StreamNote = "the first event counts from when its request was due; between two events of a stream is their gap, of which each stream has a longest and a mean"

// allStreams names the sum of the streams of several requests.
const allStreams = "(all)"

// Streams has a row for each request of a step whose responses came in parts, and one for all of them unless
// there is one alone.
func Streams(r *v1beta1.StepResult) [][]string {
	if r.Streams == nil {
		return nil
	}
	var rows [][]string
	for i := range r.Requests {
		if s := r.Requests[i].Streams; s != nil {
			rows = append(rows, ofStreams(r.Requests[i].Name, s))
		}
	}
	if len(rows) == 1 {
		return rows
	}
	return append(rows, ofStreams(allStreams, r.Streams))
}

func ofStreams(name string, s *v1beta1.StreamsResult) []string {
	none := &v1beta1.EventTimes{}
	first, between, longest, mean := cmp.Or(s.FirstEvent, none), cmp.Or(s.BetweenEvents, none), cmp.Or(s.LongestGap, none), cmp.Or(s.MeanGap, none)
	row := []string{name, fmt.Sprint(s.Events), tenths(cmp.Or(s.EventsPerSecond, unknown))}
	for _, t := range []*metav1.Duration{first.P50, first.P95, first.P99, between.P50, between.P95, between.P99, longest.Longest, mean.P95} {
		row = append(row, Brief(t))
	}
	tokens := ""
	if s.Tokens != nil {
		tokens = s.Tokens.OutputPerSecond
	}
	return append(row, tenths(cmp.Or(tokens, unknown)))
}

// Goals are how many streams kept each goal of the thresholds, as sentences.
func Goals(s *v1beta1.StreamsResult) (list []string) {
	if s == nil {
		return nil
	}
	for i := range s.OnTime {
		g := &s.OnTime[i]
		var of []string
		for _, part := range []struct {
			words string
			at    *metav1.Duration
		}{{"the response", g.Within}, {"the first event", g.FirstEvent}, {"a mean gap", g.MeanGap}} {
			if part.at != nil {
				of = append(of, part.words+" within "+part.at.Duration.String())
			}
		}
		list = append(list, fmt.Sprintf("%s with %s", text.Plural(g.Requests, "stream"), strings.Join(of, ", ")))
	}
	return list
}

// tokens are how many tokens the streams had, in a sentence; empty: they did not say.
func tokens(s *v1beta1.StreamsResult) string {
	if s.Tokens == nil {
		return ""
	}
	var of []string
	if s.Tokens.Input > 0 { // a prompt has some, if its tokens are told at all
		of = append(of, fmt.Sprintf("%d of prompts", s.Tokens.Input))
	}
	if s.Tokens.Output > 0 || len(of) == 0 {
		of = append(of, fmt.Sprintf("%d of answers", s.Tokens.Output))
	}
	return fmt.Sprintf("%s, in %s", strings.Join(of, " and "), text.Plural(s.Tokens.Streams, "stream"))
}

// TimeOfStreams are the words for a time of streams; empty of any other time.
func TimeOfStreams(time v1beta1.LatencyTime) string {
	of, _ := metric.StreamTimeOf(time)
	return of.Words
}

// FirstEvent is the 95th percentile of the time to the first event, while it is known; empty: it is not.
func FirstEvent(r *v1beta1.StepResult) string {
	if r.Streams == nil || r.Streams.FirstEvent == nil || r.Streams.FirstEvent.P95 == nil {
		return ""
	}
	return Brief(r.Streams.FirstEvent.P95)
}

// streams is a table of the streams of a step.
func (p *page) streams(r *v1beta1.StepResult) {
	rows := Streams(r)
	if rows == nil {
		return
	}
	p.line("")
	p.line("Streams")
	p.table(StreamHeads, rows)
	if said := tokens(r.Streams); said != "" {
		p.line("  tokens: %s", said)
	}
}
