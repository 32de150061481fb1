package metric

import (
	"math/big"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
)

// Quantity is a metric of all requests, of the requests of one type, or of one request.
type Quantity struct {
	Metric v1beta1.Metric
	// Type is the type of request, Request the name of a request; "" of both: all.
	Type, Request string
	// Time is a time of streams that the metric is of; "": the response time.
	Time v1beta1.LatencyTime
}

// Title heads the lines of the quantity in a table of differences, whichever its requests are.
func (q Quantity) Title() string {
	title := Of(q.Metric).Title
	if t, ok := StreamTimeOf(q.Time); ok {
		return t.Title + " " + title
	}
	return title
}

// Of is the quantity of another metric of the same requests, as far as it is known of these.
func (q Quantity) Of(m Metric) Quantity {
	if m.byPart == nil {
		return Quantity{Metric: m.Name}
	}
	q.Metric = m.Name
	return q
}

// isOfAll says whether it is of all requests.
func (q Quantity) isOfAll() bool { return q.Type == "" && q.Request == "" }

// part is what a result has of the requests that it is of; nil: nothing.
func (q Quantity) part(result *v1beta1.StepResult) *v1beta1.PartResult {
	for i := range result.Types {
		if t := &result.Types[i]; q.Type != "" && t.Name == q.Type {
			return &t.PartResult
		}
	}
	for i := range result.Requests {
		if r := &result.Requests[i]; q.Request != "" && r.Name == q.Request {
			return &r.PartResult
		}
	}
	return nil
}

// Value is that of a quantity in the result of a step; nil: it has none.
func Value(q Quantity, result *v1beta1.StepResult) *big.Rat {
	m := Of(q.Metric)
	switch {
	case q.Time.IsOfStreams():
		return eventTime(q, result)
	case m.inResult == nil:
		return nil
	case q.isOfAll():
		return m.inResult(result)
	case m.byPart == nil:
		return nil
	}
	part := q.part(result)
	if part == nil {
		return nil
	}
	return m.byPart(&part.Counts, part.ResponseTime)
}

// eventTime is a percentile of a time of streams: p50, p95 or p99.
func eventTime(q Quantity, result *v1beta1.StepResult) *big.Rat {
	streams := result.Streams
	if !q.isOfAll() {
		part := q.part(result)
		if part == nil {
			return nil
		}
		streams = part.Streams
	}
	t, ok := StreamTimeOf(q.Time)
	if !ok || streams == nil || *t.Field(streams) == nil {
		return nil
	}
	times := *t.Field(streams)
	of := v1beta1.Latency{P50: times.P50, P95: times.P95, P99: times.P99}
	return Of(q.Metric).byPart(nil, &of)
}

// Figures are the values of all metrics in the result of a step, and those of a part of the
// requests that are asked for. A quantile is left out if too many requests have no time.
func Figures(result *v1beta1.StepResult, byPart []Quantity) []v1beta1.Figure {
	var list []v1beta1.Figure
	add := func(q Quantity) {
		u := UntimedOf(q, result)
		if value := Value(q, result); value != nil && !u.Decide(q.Metric, u.Missing) {
			f := v1beta1.Figure{Metric: q.Metric, Type: q.Type, Request: q.Request, Value: Text(q.Metric, value)}
			if ideal := Ideal(q, result); ideal != nil && ideal.Cmp(value) != 0 {
				f.WithoutGenerator = Text(q.Metric, ideal)
			}
			if longer := WithUntimed(q, result); longer.Cmp(value) != 0 {
				f.WithUntimed = Text(q.Metric, longer)
			}
			if late := LateTogether(q, result); late.Sign() > 0 {
				f.LateTogether = Text(q.Metric, late)
			}
			list = append(list, f)
		}
	}
	for i := range table {
		add(Quantity{Metric: table[i].Name})
	}
	for _, q := range byPart {
		add(q)
	}
	return list
}
