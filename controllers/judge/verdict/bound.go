package verdict

import (
	"fmt"
	"math/big"
	"strings"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/metric"
)

// bound is a threshold's limit. Values are exact fractions, so that what is
// judged does not hang on rounding.
type bound struct {
	unit  metric.Unit
	limit *big.Rat
	// text is the limit as the user wrote it.
	text string
	// isMax says that smaller is better, isDefault that the user did not set it.
	isMax, isDefault bool
	// isRelative says that the limit is on a change in percent, below 0 of a decrease.
	isRelative bool
}

func newBound(t *v1beta1.Threshold) (bound, error) {
	b := bound{unit: metric.Of(t.Metric).Unit}
	switch {
	case t.Max != nil:
		b.text, b.isMax = t.Max.String(), true
	case t.Min != nil:
		b.text = t.Min.String()
	case t.MaxIncrease != "":
		b.text, b.isMax, b.isRelative, b.unit = t.MaxIncrease, true, true, metric.Share
	case t.MaxDecrease != "":
		b.text, b.isRelative, b.unit = t.MaxDecrease, true, metric.Share
	default:
		return b, fmt.Errorf("exactly one of max, min, maxIncrease and maxDecrease must be set")
	}
	var err error
	if b.limit, err = b.unit.Parse(b.text); err == nil && b.isRelative && !b.isMax {
		b.limit.Neg(b.limit)
	}
	return b, err
}

// keeps says whether a value is within the bound.
func (b bound) keeps(value *big.Rat) bool {
	if b.isMax {
		return value.Cmp(b.limit) <= 0
	}
	return value.Cmp(b.limit) >= 0
}

// closer says whether a is nearer to being a breach than c.
func (b bound) closer(a, c *big.Rat) bool {
	if b.isMax {
		return a.Cmp(c) > 0
	}
	return a.Cmp(c) < 0
}

// demand is the bound in words.
func (b bound) demand() string {
	switch {
	case b.isDefault:
		return "at most " + b.text + " is allowed by default"
	case b.isRelative && b.isMax:
		return "at most " + b.text + " above is allowed"
	case b.isRelative:
		return "at most " + b.text + " below is allowed"
	case b.isMax:
		return "at most " + b.text + " is allowed"
	}
	return "at least " + b.text + " is required"
}

// format writes a value. It rounds towards the bound, so that a value which
// breaches the bound never reads as if it kept it.
func (b bound) format(value *big.Rat) string {
	switch b.unit {
	case metric.Latency:
		return b.formatLatency(value)
	case metric.Share:
		return b.decimal(value, max(2, b.digits())) + "%"
	case metric.Rate:
		return b.decimal(value, max(1, b.digits()))
	case metric.Number:
		return b.decimal(value, max(3, b.digits()))
	default:
		return b.decimal(value, 0)
	}
}

// formatLatency keeps whole microseconds, the unit of the histograms.
func (b bound) formatLatency(micros *big.Rat) string {
	switch {
	case micros.Cmp(big.NewRat(1_000, 1)) < 0:
		return b.decimal(micros, 0) + "us"
	case micros.Cmp(big.NewRat(1_000_000, 1)) < 0:
		return b.decimal(new(big.Rat).Quo(micros, big.NewRat(1_000, 1)), 3) + "ms"
	default:
		return b.decimal(new(big.Rat).Quo(micros, big.NewRat(1_000_000, 1)), 6) + "s"
	}
}

// digits is how many digits the limit has behind its point.
func (b bound) digits() int {
	_, fraction, _ := strings.Cut(strings.TrimSuffix(b.text, "%"), ".")
	return len(fraction)
}

// decimal has at most that many digits behind the point, rounded up for a
// maximum and down for a minimum.
func (b bound) decimal(value *big.Rat, digits int) string {
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(digits)), nil)
	scaled := new(big.Rat).Mul(value, new(big.Rat).SetInt(power))
	whole := floor(scaled)
	if b.isMax {
		whole.Neg(floor(scaled.Neg(scaled)))
	}
	text := new(big.Rat).SetFrac(whole, power).FloatString(digits)
	if digits > 0 {
		text = strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
	}
	return text
}

func floor(r *big.Rat) *big.Int { return new(big.Int).Div(r.Num(), r.Denom()) }
