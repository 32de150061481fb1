package record

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// Figure is a number that a repetition of a step has.
type Figure struct {
	// Of reads it; false: the result does not have it, such as a quantile of too few
	// samples.
	Of func(*v1beta1.StepStatus) (float64, bool)
	// Text writes a value with its unit.
	Text func(float64) string
	// LessIsBetter says so of times and failures.
	LessIsBetter bool
	// Exact is what the machine cannot change: an audit counts by the time that passed.
	Exact bool
}

// Figures are all that tables, plots and expectations name. Times are in seconds, rates
// per second, shares from 0 to 1.
var Figures = map[string]Figure{
	"users":        count(func(s *v1beta1.StepStatus) int64 { return int64(s.Load.Users) }),
	"due":          count(func(s *v1beta1.StepStatus) int64 { return s.Result.Due }),
	"sent":         count(func(s *v1beta1.StepStatus) int64 { return s.Result.Sent }),
	"success":      count(func(s *v1beta1.StepStatus) int64 { return s.Result.Outcomes.Success }),
	"failed":       bad(count(func(s *v1beta1.StepStatus) int64 { return s.Result.Failed })),
	"rateLimited":  bad(count(func(s *v1beta1.StepStatus) int64 { return s.Result.Outcomes.RateLimited })),
	"timeouts":     bad(count(func(s *v1beta1.StepStatus) int64 { return s.Result.Outcomes.Timeout })),
	"serverErrors": bad(count(func(s *v1beta1.StepStatus) int64 { return s.Result.Outcomes.ServerError })),
	"clientErrors": bad(count(func(s *v1beta1.StepStatus) int64 { return s.Result.Outcomes.ClientError })),

	"granted":      audit(func(a *v1beta1.RateLimitStatus) int64 { return a.Granted }),
	"denied":       bad(audit(func(a *v1beta1.RateLimitStatus) int64 { return a.Denied })),
	"overLimit":    bad(audit(func(a *v1beta1.RateLimitStatus) int64 { return a.OverLimitGrants })),
	"falseDenials": bad(audit(func(a *v1beta1.RateLimitStatus) int64 { return a.FalseDenials })),
	// wrong is what a limiter decided against its contract.
	"wrong": bad(audit(func(a *v1beta1.RateLimitStatus) int64 { return a.OverLimitGrants + a.FalseDenials })),

	"unsentShare":      bad(share(func(r *v1beta1.StepResult) (int64, int64) { return r.Offered() })),
	"failedShare":      bad(share(func(r *v1beta1.StepResult) (int64, int64) { return r.Failed, r.Sent })),
	"successShare":     share(func(r *v1beta1.StepResult) (int64, int64) { return r.Outcomes.Success, r.Sent }),
	"serverErrorShare": bad(share(func(r *v1beta1.StepResult) (int64, int64) { return r.Outcomes.ServerError, r.Sent })),
	// lostShare is what was due and got no expected response, sent or not.
	"lostShare": bad(share(func(r *v1beta1.StepResult) (int64, int64) { return r.Due - r.Expected, r.Due })),

	"throughput": {Of: number(func(r *v1beta1.StepResult) string { return r.Throughput }), Text: rate},
	"goodput":    {Of: number(func(r *v1beta1.StepResult) string { return r.Goodput }), Text: rate},
	"items":      {Of: number(items), Text: rate},
	"itemsTotal": {Of: itemsTotal, Text: whole},

	"duration":    {Of: duration(func(s *v1beta1.StepStatus) *metav1.Duration { return s.Window }), Text: clock, LessIsBetter: true},
	"min":         quantile(func(l *v1beta1.Latency) *metav1.Duration { return l.Min }),
	"mean":        quantile(func(l *v1beta1.Latency) *metav1.Duration { return l.Mean }),
	"p50":         quantile(func(l *v1beta1.Latency) *metav1.Duration { return l.P50 }),
	"p75":         quantile(func(l *v1beta1.Latency) *metav1.Duration { return l.P75 }),
	"p90":         quantile(func(l *v1beta1.Latency) *metav1.Duration { return l.P90 }),
	"p95":         quantile(func(l *v1beta1.Latency) *metav1.Duration { return l.P95 }),
	"p99":         quantile(func(l *v1beta1.Latency) *metav1.Duration { return l.P99 }),
	"p999":        quantile(func(l *v1beta1.Latency) *metav1.Duration { return l.P999 }),
	"longest":     quantile(func(l *v1beta1.Latency) *metav1.Duration { return l.Longest }),
	"redirectP50": {Of: duration(redirectP50), Text: seconds, LessIsBetter: true},
}

func bad(f Figure) Figure {
	f.LessIsBetter = true
	return f
}

func count(of func(*v1beta1.StepStatus) int64) Figure {
	return Figure{Of: func(s *v1beta1.StepStatus) (float64, bool) { return float64(of(s)), true }, Text: whole}
}

func audit(of func(*v1beta1.RateLimitStatus) int64) Figure {
	return Figure{Of: func(s *v1beta1.StepStatus) (float64, bool) {
		if s.Result.RateLimit == nil {
			return 0, false
		}
		return float64(of(s.Result.RateLimit)), true
	}, Text: whole, Exact: true}
}

// share is a part of all; there is none of nothing.
func share(of func(*v1beta1.StepResult) (part, all int64)) Figure {
	return Figure{Of: func(s *v1beta1.StepStatus) (float64, bool) {
		part, all := of(s.Result)
		return float64(part) / float64(max(all, 1)), all > 0
	}, Text: percent}
}

func number(text func(*v1beta1.StepResult) string) func(*v1beta1.StepStatus) (float64, bool) {
	return func(s *v1beta1.StepStatus) (float64, bool) {
		v, err := strconv.ParseFloat(text(s.Result), 64)
		return v, err == nil && !math.IsNaN(v) && !math.IsInf(v, 0)
	}
}

// redirectP50 is the median of the requests of type Redirect.
func redirectP50(s *v1beta1.StepStatus) *metav1.Duration {
	i := slices.IndexFunc(s.Result.Types, func(t v1beta1.TypeResult) bool { return t.Name == "Redirect" })
	if i < 0 || s.Result.Types[i].ResponseTime == nil {
		return nil
	}
	return s.Result.Types[i].ResponseTime.P50
}

// items are the items per second of a step: requests, or what they carry.
func items(r *v1beta1.StepResult) string { return cmp.Or(r.ItemsPerSecond, r.Goodput) }

func itemsTotal(s *v1beta1.StepStatus) (float64, bool) {
	perSecond, ok := number(items)(s)
	if !ok || s.Window == nil {
		return 0, false
	}
	return math.Round(perSecond * s.Window.Seconds()), true
}

func duration(of func(*v1beta1.StepStatus) *metav1.Duration) func(*v1beta1.StepStatus) (float64, bool) {
	return func(s *v1beta1.StepStatus) (float64, bool) {
		if d := of(s); d != nil {
			return d.Seconds(), true
		}
		return 0, false
	}
}

func quantile(of func(*v1beta1.Latency) *metav1.Duration) Figure {
	return Figure{Of: duration(func(s *v1beta1.StepStatus) *metav1.Duration {
		if s.Result.ResponseTime == nil {
			return nil
		}
		return of(s.Result.ResponseTime)
	}), Text: seconds, LessIsBetter: true}
}

func whole(v float64) string { return strconv.FormatFloat(v, 'f', 0, 64) }
func rate(v float64) string  { return text.Rate(fmt.Sprintf("%.3f", v)) }
func seconds(v float64) string {
	return text.Short(time.Duration(math.Round(v * float64(time.Second))))
}
func clock(v float64) string {
	return text.Whole(time.Duration(math.Round(v*1000)) * time.Millisecond)
}

// percent has shares down to a billionth, so that a little does not read as nothing.
func percent(v float64) string { return text.Percent(int64(math.Round(v*1e9)), 1e9) }

// Values are a figure of each repetition; false if one of them does not have it.
func (r Rung) Values(f Figure) ([]float64, bool) {
	var list []float64
	for _, step := range r.Repetitions {
		v, ok := f.Of(step)
		if !ok {
			return nil, false
		}
		list = append(list, v)
	}
	return list, len(list) > 0
}

// Spread is the median of the repetitions of a rung, with the least and the greatest. The
// median of an even number is the lower of the two in the middle, as in a status.
type Spread struct{ Least, Median, Greatest float64 }

// Spread is of a figure; false if a repetition does not have it.
func (r Rung) Spread(f Figure) (Spread, bool) {
	list, ok := r.Values(f)
	if !ok {
		return Spread{}, false
	}
	slices.Sort(list)
	return Spread{list[0], list[(len(list)-1)/2], list[len(list)-1]}, true
}

// Unknown stands for a figure that a result does not have.
const Unknown = "–"

// Text is the median of a figure, and the least and the greatest where they read
// differently: "5.4ms (4.9ms–6.1ms)".
func (r Rung) Text(f Figure) string {
	s, ok := r.Spread(f)
	if !ok {
		return Unknown
	}
	least, median, greatest := f.Text(s.Least), f.Text(s.Median), f.Text(s.Greatest)
	if least == greatest {
		return median
	}
	return fmt.Sprintf("%s (%s–%s)", median, least, greatest)
}
