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
}

// Figures are all that tables, plots and expectations name. Times are in seconds, rates
// per second, shares from 0 to 1.
var Figures = map[string]Figure{
	"users":        {of(func(s *v1beta1.StepStatus) int64 { return int64(s.Load.Users) }), whole, false},
	"duration":     {duration(func(s *v1beta1.StepStatus) *metav1.Duration { return s.Window }), clock, true},
	"due":          {of(func(s *v1beta1.StepStatus) int64 { return s.Result.Due }), whole, false},
	"sent":         {of(func(s *v1beta1.StepStatus) int64 { return s.Result.Sent }), whole, false},
	"success":      {of(func(s *v1beta1.StepStatus) int64 { return s.Result.Outcomes.Success }), whole, false},
	"failed":       {of(func(s *v1beta1.StepStatus) int64 { return s.Result.Failed }), whole, true},
	"rateLimited":  {of(func(s *v1beta1.StepStatus) int64 { return s.Result.Outcomes.RateLimited }), whole, true},
	"timeouts":     {of(func(s *v1beta1.StepStatus) int64 { return s.Result.Outcomes.Timeout }), whole, true},
	"serverErrors": {of(func(s *v1beta1.StepStatus) int64 { return s.Result.Outcomes.ServerError }), whole, true},
	"clientErrors": {of(func(s *v1beta1.StepStatus) int64 { return s.Result.Outcomes.ClientError }), whole, true},
	"granted":      {audit(func(a *v1beta1.RateLimitStatus) int64 { return a.Granted }), whole, false},
	"denied":       {audit(func(a *v1beta1.RateLimitStatus) int64 { return a.Denied }), whole, true},
	"overLimit":    {audit(func(a *v1beta1.RateLimitStatus) int64 { return a.OverLimitGrants }), whole, true},
	"falseDenials": {audit(func(a *v1beta1.RateLimitStatus) int64 { return a.FalseDenials }), whole, true},
	"unsentShare": {func(s *v1beta1.StepStatus) (float64, bool) {
		unsent, due := s.Result.Offered()
		return share(unsent, due)
	}, percent, true},
	"failedShare":  {func(s *v1beta1.StepStatus) (float64, bool) { return share(s.Result.Failed, s.Result.Sent) }, percent, true},
	"successShare": {func(s *v1beta1.StepStatus) (float64, bool) { return share(s.Result.Outcomes.Success, s.Result.Sent) }, percent, false},
	"serverErrorShare": {func(s *v1beta1.StepStatus) (float64, bool) {
		return share(s.Result.Outcomes.ServerError, s.Result.Sent)
	}, percent, true},
	// wrong is what a limiter decided against its contract.
	"wrong": {audit(func(a *v1beta1.RateLimitStatus) int64 { return a.OverLimitGrants + a.FalseDenials }), whole, true},
	// lostShare is what was due and got no expected response, sent or not.
	"lostShare": {func(s *v1beta1.StepStatus) (float64, bool) {
		return share(s.Result.Due-s.Result.Expected, s.Result.Due)
	}, percent, true},
	"throughput": {number(func(r *v1beta1.StepResult) string { return r.Throughput }), rate, false},
	"goodput":    {number(func(r *v1beta1.StepResult) string { return r.Goodput }), rate, false},
	"items":      {number(items), rate, false},
	"itemsTotal": {itemsTotal, whole, false},
	"min":        quantile(func(l *v1beta1.Latency) *metav1.Duration { return l.Min }),
	"mean":       quantile(func(l *v1beta1.Latency) *metav1.Duration { return l.Mean }),
	"p50":        quantile(func(l *v1beta1.Latency) *metav1.Duration { return l.P50 }),
	"p75":        quantile(func(l *v1beta1.Latency) *metav1.Duration { return l.P75 }),
	"p90":        quantile(func(l *v1beta1.Latency) *metav1.Duration { return l.P90 }),
	"p95":        quantile(func(l *v1beta1.Latency) *metav1.Duration { return l.P95 }),
	"p99":        quantile(func(l *v1beta1.Latency) *metav1.Duration { return l.P99 }),
	"p999":       quantile(func(l *v1beta1.Latency) *metav1.Duration { return l.P999 }),
	"longest":    quantile(func(l *v1beta1.Latency) *metav1.Duration { return l.Longest }),
	"redirectP50": {duration(func(s *v1beta1.StepStatus) *metav1.Duration {
		i := slices.IndexFunc(s.Result.Types, func(t v1beta1.TypeResult) bool { return t.Name == "Redirect" })
		if i < 0 || s.Result.Types[i].ResponseTime == nil {
			return nil
		}
		return s.Result.Types[i].ResponseTime.P50
	}), seconds, true},
}

func of(count func(*v1beta1.StepStatus) int64) func(*v1beta1.StepStatus) (float64, bool) {
	return func(s *v1beta1.StepStatus) (float64, bool) { return float64(count(s)), true }
}

func audit(count func(*v1beta1.RateLimitStatus) int64) func(*v1beta1.StepStatus) (float64, bool) {
	return func(s *v1beta1.StepStatus) (float64, bool) {
		if s.Result.RateLimit == nil {
			return 0, false
		}
		return float64(count(s.Result.RateLimit)), true
	}
}

func share(part, all int64) (float64, bool) {
	return float64(part) / float64(max(all, 1)), all > 0
}

func number(text func(*v1beta1.StepResult) string) func(*v1beta1.StepStatus) (float64, bool) {
	return func(s *v1beta1.StepStatus) (float64, bool) {
		v, err := strconv.ParseFloat(text(s.Result), 64)
		return v, err == nil && !math.IsNaN(v) && !math.IsInf(v, 0)
	}
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
	return Figure{duration(func(s *v1beta1.StepStatus) *metav1.Duration {
		if s.Result.ResponseTime == nil {
			return nil
		}
		return of(s.Result.ResponseTime)
	}), seconds, true}
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
