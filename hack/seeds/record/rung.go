package record

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// Rung is a step that sends something, with all of its repetitions.
type Rung struct {
	// Name is that of the step in the first repetition.
	Name string
	Load v1beta1.StepLoad
	// Repetitions are in the order in which they ran.
	Repetitions []*v1beta1.StepStatus
}

// Rungs are the steps of a load test that send something, in order. A load test that did
// not run has none.
func Rungs(lt *v1beta1.LoadTest) []Rung {
	if lt == nil {
		return nil
	}
	var list []Rung
	for i := range lt.Status.Steps {
		step := &lt.Status.Steps[i]
		if step.Load.IsPause() {
			continue
		}
		at := slices.IndexFunc(list, func(r Rung) bool { return r.Repetitions[0].Rung == step.Rung })
		if at < 0 {
			list, at = append(list, Rung{Name: step.Name, Load: step.Load}), len(list)
		}
		list[at].Repetitions = append(list[at].Repetitions, step)
	}
	return list
}

// LimitedBy is why the machine was the limit in a repetition of a step, beside the target
// or in its place: the reason for which the generator was not healthy. "": it was not.
func LimitedBy(step *v1beta1.StepStatus) string {
	switch g := step.Result.Generator; {
	case g == nil:
		return "NotReported"
	case g.Healthy:
		return ""
	case g.Reason == "":
		return "NotHealthy"
	default:
		return g.Reason
	}
}

// Healthy is the rung with those repetitions alone in which the machine was not the limit.
func (r Rung) Healthy() Rung {
	r.Repetitions = slices.DeleteFunc(slices.Clone(r.Repetitions), func(s *v1beta1.StepStatus) bool { return LimitedBy(s) != "" })
	return r
}

// Whole is a load test as one rung: of each repetition all steps that send something
// together. Counts and windows are added up, and the distributions of response times are
// merged where the results have them.
func Whole(lt *v1beta1.LoadTest) Rung {
	rungs := Rungs(lt)
	if len(rungs) < 2 {
		return slices.Concat(rungs, []Rung{{}})[0]
	}
	whole := Rung{Name: lt.Name, Load: rungs[0].Load}
	for i, first := range rungs[0].Repetitions {
		steps := []*v1beta1.StepStatus{first}
		for _, rung := range rungs[1:] {
			if i < len(rung.Repetitions) {
				steps = append(steps, rung.Repetitions[i])
			}
		}
		whole.Repetitions = append(whole.Repetitions, together(steps))
	}
	return whole
}

// together are the steps of a repetition as one.
func together(steps []*v1beta1.StepStatus) *v1beta1.StepStatus {
	sum := &v1beta1.StepStatus{Repetition: steps[0].Repetition, Window: &metav1.Duration{}, Result: &v1beta1.StepResult{}}
	times, limited := measure.NewHistogram(), ""
	for _, step := range steps {
		r := step.Result
		limited = cmp.Or(limited, LimitedBy(step))
		if step.Window != nil {
			sum.Window.Duration += step.Window.Duration
		}
		add(sum.Result, r)
		h, err := measure.DecodeHistogram(r.Histogram, 0)
		if err != nil || times == nil || times.Merge(h) != nil {
			times = nil // without one of them the whole is not known
		}
	}
	if seconds := sum.Window.Seconds(); seconds > 0 {
		sum.Result.Throughput = fmt.Sprintf("%.2f", float64(sum.Result.Completed)/seconds)
		sum.Result.Goodput = fmt.Sprintf("%.2f", float64(sum.Result.Outcomes.Success)/seconds)
	}
	sum.Result.Generator = &v1beta1.GeneratorStatus{Healthy: limited == "", Reason: limited}
	sum.Result.ResponseTime = latency(times)
	return sum
}

// AddCounts adds counts up.
func AddCounts(sum, c *v1beta1.Counts) {
	sum.Sent, sum.Completed = sum.Sent+c.Sent, sum.Completed+c.Completed
	sum.Expected, sum.Failed = sum.Expected+c.Expected, sum.Failed+c.Failed
	for i, class := range classes(&sum.Outcomes) {
		*class += *classes(&c.Outcomes)[i]
	}
}

func add(sum, r *v1beta1.StepResult) {
	sum.Due, sum.Unsent = sum.Due+r.Due, sum.Unsent+r.Unsent
	AddCounts(&sum.Counts, &r.Counts)
	if a := r.RateLimit; a != nil {
		if sum.RateLimit == nil {
			sum.RateLimit = &v1beta1.RateLimitStatus{}
		}
		sum.RateLimit.Granted += a.Granted
		sum.RateLimit.Denied += a.Denied
		sum.RateLimit.OverLimitGrants += a.OverLimitGrants
		sum.RateLimit.FalseDenials += a.FalseDenials
		sum.RateLimit.Untracked += a.Untracked
	}
}

func latency(h *measure.Histogram) *v1beta1.Latency {
	if h == nil || h.Count() == 0 {
		return nil
	}
	at := func(q float64) *metav1.Duration {
		d, ok := h.Quantile(q)
		if !ok {
			return nil
		}
		return &metav1.Duration{Duration: d}
	}
	is := func(d time.Duration) *metav1.Duration { return &metav1.Duration{Duration: d} }
	return &v1beta1.Latency{
		Samples: h.Count(), Min: is(h.Min()), Mean: is(h.Mean()), Longest: is(h.Max()),
		P50: at(0.5), P75: at(0.75), P90: at(0.9), P95: at(0.95), P99: at(0.99), P999: at(0.999), P9999: at(0.9999),
	}
}

// classes are the counts of all outcomes.
func classes(o *v1beta1.Outcomes) []*int64 {
	return []*int64{&o.Success, &o.RateLimited, &o.ClientError, &o.ServerError, &o.UnexpectedStatus, &o.Timeout, &o.Refused, &o.Reset,
		&o.DNS, &o.TLS, &o.BadResponse, &o.Unfinished, &o.Other, &o.BrokenOff, &o.Stalled, &o.EndedEarly}
}

// Classed is how many requests are in any class of outcomes.
func Classed(o *v1beta1.Outcomes) (n int64) {
	for _, class := range classes(o) {
		n += *class
	}
	return n
}

// Limits says in how many repetitions the machine was the limit, and why: "NodeBusy in 2 of
// 5", or "healthy".
func (r Rung) Limits() string {
	n := map[string]int{}
	for _, step := range r.Repetitions {
		if reason := LimitedBy(step); reason != "" {
			n[reason]++
		}
	}
	if len(n) == 0 {
		return "healthy"
	}
	var list []string
	for _, reason := range slices.Sorted(maps.Keys(n)) {
		list = append(list, fmt.Sprintf("%s in %d of %d", reason, n[reason], len(r.Repetitions)))
	}
	return strings.Join(list, ", ")
}
