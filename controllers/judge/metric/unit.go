package metric

import (
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// Unit is what a metric is counted in.
type Unit int

const (
	Latency Unit = iota // microseconds, written 500ms
	Share               // percent, written 1%
	Rate                // per second, written 1000
	Count               // written 0
	Number              // of any unit, written 20 or 0.5
)

// scales are the suffixes of a latency, in microseconds; "s" comes last, since
// the others end in it.
var scales = []struct {
	suffix string
	micros int64
}{{"us", 1}, {"µs", 1}, {"ms", 1_000}, {"s", 1_000_000}}

// Parse reads a value as users write bounds, and as statuses have values.
func (u Unit) Parse(written string) (*big.Rat, error) {
	number, scale := written, int64(1)
	switch u {
	case Latency:
		scale = 0
		for _, s := range scales {
			if n, ok := strings.CutSuffix(written, s.suffix); ok {
				number, scale = n, s.micros
				break
			}
		}
	case Share:
		n, ok := strings.CutSuffix(written, "%")
		if !ok {
			scale = 0
		}
		number = n
	}
	value, ok := new(big.Rat).SetString(number)
	if !ok || scale == 0 {
		return nil, fmt.Errorf("%q is not %s", written, u.example())
	}
	return value.Mul(value, big.NewRat(scale, 1)), nil
}

func (u Unit) example() string {
	switch u {
	case Latency:
		return "a duration such as 500ms"
	case Share:
		return "a percentage such as 1%"
	case Rate:
		return "a number per second such as 1000"
	case Number:
		return "a number such as 20"
	default:
		return "a whole number such as 0"
	}
}

// Short is a value for people, in two or three digits.
func (u Unit) Short(value *big.Rat) string {
	switch u {
	case Latency:
		micros, _ := value.Float64()
		return text.Short(time.Duration(micros * float64(time.Microsecond)))
	case Share:
		part, whole := new(big.Int).Set(value.Num()), new(big.Int).Mul(value.Denom(), big.NewInt(100))
		for !whole.IsInt64() { // the mean of two shares of large numbers
			part.Rsh(part, 1)
			whole.Rsh(whole, 1)
		}
		return text.Percent(part.Int64(), whole.Int64())
	case Rate:
		return text.Rate(value.FloatString(1))
	case Number:
		return text.Decimal(trimmed(value.FloatString(6)))
	default:
		return value.FloatString(0)
	}
}

// Text is a value as the figures of a status have it: to the microsecond, or to six digits
// behind the point.
func Text(name v1beta1.Metric, value *big.Rat) string {
	switch Of(name).Unit {
	case Latency:
		return trimmed(new(big.Rat).Quo(value, big.NewRat(1_000, 1)).FloatString(3)) + "ms"
	case Share:
		return trimmed(value.FloatString(6)) + "%"
	default:
		return trimmed(value.FloatString(6))
	}
}

func trimmed(decimal string) string {
	return strings.TrimSuffix(strings.TrimRight(decimal, "0"), ".")
}

// Parse reads what Text has written.
func Parse(name v1beta1.Metric, written string) (*big.Rat, error) {
	value, err := Of(name).Unit.Parse(written)
	if err != nil || value.Sign() < 0 {
		return nil, fmt.Errorf("%q is not a value of %s", written, name)
	}
	return value, nil
}
