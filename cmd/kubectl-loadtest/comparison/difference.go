package comparison

import (
	"fmt"
	"math/big"
	"slices"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/metric"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/statistics"
)

// level is the part of the comparisons of tests that do not differ in which any difference is
// marked.
const level = 0.05

// Mark says what a difference is that chance does not explain.
type Mark string

// The marks of a difference. Unmarked: chance may explain it, or it was not tested.
const (
	Unmarked Mark = ""
	Better   Mark = "better"
	Worse    Mark = "worse"
)

// Difference is how far a test differs from the first one in a figure.
type Difference struct {
	Step string `json:"step"`
	// Request is the name of a request; empty: all of them.
	Request string `json:"request,omitempty"`
	Metric  string `json:"metric"`
	// Time is a time of streams, such as FirstEvent, that the metric is of; empty: the response time.
	Time string `json:"time,omitempty"`
	// Test is the test that is compared with the first. First and Value are the figures of
	// either, as statuses write them.
	Test  string `json:"test"`
	First string `json:"first"`
	Value string `json:"value"`
	// Change is the difference in percent, the median of the ratios of all pairs of repetitions, and Range what it is between; empty: repetitions
	// are too few.
	Change string `json:"change"`
	Range  string `json:"range,omitempty"`
	// Chance is how probable so large a difference is where there is none; nil: it was not
	// tested.
	Chance *float64 `json:"chance,omitempty"`
	Mark   Mark     `json:"mark,omitempty"`

	place
	increase bool
}

// place is the cell of a difference.
type place struct {
	test, column int
	quantity     metric.Quantity
}

// compared are all differences, marked.
func (c *Comparison) compared() []Difference {
	var list []Difference
	for _, q := range c.quantities() {
		for test := 1; test < len(c.tests); test++ {
			for column := range c.columns {
				if d, ok := c.differ(test, column, q); ok {
					list = append(list, d)
				}
			}
		}
	}
	var tested []int
	var chances []float64
	for i := range list {
		if list[i].Chance != nil {
			tested, chances = append(tested, i), append(chances, *list[i].Chance)
		}
	}
	for n, small := range statistics.Holm(chances, level) {
		d := &list[tested[n]]
		switch {
		case !small:
		case d.increase == metric.Of(d.quantity.Metric).LowerIsBetter:
			d.Mark = Worse
		default:
			d.Mark = Better
		}
	}
	return list
}

// quantities are what is compared: each metric of all requests together and, if a test sent several, of each.
func (c *Comparison) quantities() []metric.Quantity {
	list := c.ofAll()
	for _, name := range c.requests() {
		list = append(list, c.ofRequest(name)...)
	}
	return list
}

// ofAll are the quantities of all requests together.
func (c *Comparison) ofAll() []metric.Quantity {
	var list []metric.Quantity
	for _, m := range c.titled() {
		list = append(list, metric.Quantity{Metric: m.Name})
	}
	if c.inAny(hasStreams) {
		list = append(list, ofStreams("")...)
	}
	return list
}

// ofStreams are the times of the streams of a request that are compared; "": of all of them.
func ofStreams(request string) (list []metric.Quantity) {
	for _, time := range []v1beta1.LatencyTime{v1beta1.FirstEventTime, v1beta1.MeanGapTime} {
		list = append(list, metric.Quantity{Metric: "p95", Request: request, Time: time})
	}
	return list
}

// titled are the metrics of all requests that are compared. Metrics of streams are compared if a test has streams.
func (c *Comparison) titled() []metric.Metric {
	return slices.DeleteFunc(metric.Titled(), func(m metric.Metric) bool {
		return (&v1beta1.Threshold{Metric: m.Name}).OfStreams() && !c.inAny(func(r *v1beta1.StepResult) bool {
			return metric.Value(metric.Quantity{Metric: m.Name}, r) != nil
		})
	})
}

// inAny says whether a step of a test has a result with something.
func (c *Comparison) inAny(has func(*v1beta1.StepResult) bool) bool {
	return slices.ContainsFunc(c.tests, func(lt *v1beta1.LoadTest) bool {
		return slices.ContainsFunc(lt.Status.Steps, func(s v1beta1.StepStatus) bool { return s.Result != nil && has(s.Result) })
	})
}

func hasStreams(r *v1beta1.StepResult) bool { return r.Streams != nil }

// ofRequest are the quantities that are known of a request.
func (c *Comparison) ofRequest(name string) (list []metric.Quantity) {
	for _, m := range metric.Titled() {
		if q := (metric.Quantity{Request: name}).Of(m); q.Request != "" {
			list = append(list, q)
		}
	}
	isStream := func(r v1beta1.RequestResult) bool { return r.Name == name && r.Streams != nil }
	if c.inAny(func(r *v1beta1.StepResult) bool { return slices.ContainsFunc(r.Requests, isStream) }) {
		list = append(list, ofStreams(name)...)
	}
	return list
}

func (c *Comparison) differ(test, column int, q metric.Quantity) (Difference, bool) {
	before, after := c.values(0, column, q), c.values(test, column, q)
	found, ok := statistics.Of(before, after)
	if !ok {
		return Difference{}, false
	}
	first, value := statistics.Median(before), statistics.Median(after)
	d := Difference{
		Step: c.columns[column].Name, Request: q.Request, Metric: string(q.Metric), Time: string(q.Time), Test: c.names[test],
		First: metric.Text(q.Metric, first), Value: metric.Text(q.Metric, value), Change: report.Signed(found.Factor),
		Chance: c.chance(test, column, q), place: place{test, column, q}, increase: found.Factor == nil || found.Factor.Cmp(big.NewRat(1, 1)) > 0,
	}
	if found.Tested {
		d.Range = fmt.Sprintf("%s to %s", report.Signed(found.Low), report.Signed(found.High))
	}
	return d, true
}

// find is the difference of a cell; nil: there is none.
func (c *Comparison) find(test, column int, q metric.Quantity) *Difference {
	if i, ok := c.places[place{test, column, q}]; ok {
		return &c.differences[i]
	}
	return nil
}

// String is how it is read: "+2.1% (-1% to +5.3%)", "+198% worse".
func (d *Difference) String() string {
	said := d.Change
	if d.Range != "" {
		said += " (" + d.Range + ")"
	}
	if d.Mark != Unmarked {
		said += " " + string(d.Mark)
	}
	return said
}
