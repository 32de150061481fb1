package groundtruth

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Latency is a distribution of latencies.
type Latency interface {
	// At is the quantile u, from 0 up to but not 1. The latency of an evenly
	// distributed u has the distribution.
	At(u float64) time.Duration
}

// Fixed is always the same.
type Fixed time.Duration

// Uniform is between From and To.
type Uniform struct{ From, To time.Duration }

// LogNormal has a logarithm of normal distribution around that of Median, with
// the standard deviation Sigma: quantile u is Median·exp(Sigma·z), where z is
// that quantile of the standard normal distribution.
type LogNormal struct {
	Median time.Duration
	Sigma  float64
}

// TwoPoint is Slow for the share of requests, Fast for the others.
type TwoPoint struct {
	Fast, Slow time.Duration
	Share      float64
}

var (
	_ Latency = Fixed(0)
	_ Latency = Uniform{}
	_ Latency = LogNormal{}
	_ Latency = TwoPoint{}
)

// At returns the latency.
func (f Fixed) At(float64) time.Duration { return time.Duration(f) }

// At is linear.
func (l Uniform) At(u float64) time.Duration {
	return l.From + time.Duration(u*float64(l.To-l.From))
}

// At is the inverse of the distribution's function.
func (l LogNormal) At(u float64) time.Duration {
	z := math.Sqrt2 * math.Erfinv(2*u-1)
	return time.Duration(float64(l.Median) * math.Exp(l.Sigma*z))
}

// At is Slow in the upper share.
func (l TwoPoint) At(u float64) time.Duration {
	if u >= 1-l.Share {
		return l.Slow
	}
	return l.Fast
}

// ParseLatency reads fixed:10ms, uniform:1ms:5ms, lognormal:10ms:0.5 (median
// and sigma) or twopoint:1ms:1s:0.01 (fast, slow and the share of slow).
func ParseLatency(text string) (Latency, error) {
	name, rest, _ := strings.Cut(text, ":")
	r := reader{fields: strings.Split(rest, ":")}
	var l Latency
	switch name {
	case "fixed":
		l = Fixed(r.duration())
	case "uniform":
		l = Uniform{From: r.duration(), To: r.duration()}
	case "lognormal":
		l = LogNormal{Median: r.duration(), Sigma: r.number()}
	case "twopoint":
		l = TwoPoint{Fast: r.duration(), Slow: r.duration(), Share: r.number()}
	default:
		return nil, fmt.Errorf("latency %q: must be fixed, uniform, lognormal or twopoint", text)
	}
	if err := r.end(); err != nil {
		return nil, fmt.Errorf("latency %q: %w", text, err)
	}
	return l, nil
}

// reader reads fields in turn, and keeps the first that is wrong.
type reader struct {
	fields []string
	err    error
}

func (r *reader) next() string {
	if len(r.fields) == 0 {
		r.fail(fmt.Errorf("a value is missing"))
		return ""
	}
	f := r.fields[0]
	r.fields = r.fields[1:]
	return f
}

func (r *reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

func (r *reader) duration() time.Duration {
	d, err := time.ParseDuration(r.next())
	if err == nil && d < 0 {
		err = fmt.Errorf("%v is negative", d)
	}
	if err != nil {
		r.fail(err)
		return 0
	}
	return d
}

func (r *reader) number() float64 {
	f, err := strconv.ParseFloat(r.next(), 64)
	if err == nil && (math.IsNaN(f) || f < 0) {
		err = fmt.Errorf("%v is no positive number", f)
	}
	if err != nil {
		r.fail(err)
		return 0
	}
	return f
}

func (r *reader) count() int {
	n, err := strconv.Atoi(r.next())
	if err == nil && (n < 0 || n > maxReply) {
		err = fmt.Errorf("%d is not from 0 to %d", n, maxReply)
	}
	if err != nil {
		r.fail(err)
		return 0
	}
	return n
}

func (r *reader) end() error {
	if r.err == nil && len(r.fields) > 0 {
		return fmt.Errorf("%q is too much", strings.Join(r.fields, ":"))
	}
	return r.err
}
