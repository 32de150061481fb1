package plan

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/pace"
)

const (
	// micro is how many parts a request per second is counted in: Decimal has
	// six digits behind the point, so that every rate is a whole number of them.
	micro = 1_000_000
	// MaxRateMicros bounds the total rate of a step: 10^9 requests per second,
	// the bound that Decimal puts on a rate by itself.
	MaxRateMicros = 1_000_000_000 * micro
)

// Micros is a decimal number in millionths, exactly.
func Micros(d v1beta1.Decimal) (int64, error) {
	whole, fraction, _ := strings.Cut(d.String(), ".")
	if len(whole) == 0 || len(whole) > 9 || len(fraction) > 6 {
		return 0, fmt.Errorf("%q is not a decimal number such as 0.5", d.String())
	}
	digits := whole + fraction + strings.Repeat("0", 6-len(fraction))
	n, err := strconv.ParseUint(digits, 10, 63)
	if err != nil {
		return 0, fmt.Errorf("%q is not a decimal number such as 0.5", d.String())
	}
	return int64(n), nil
}

// micros is Micros of an optional rate; absent and malformed ones are 0. A
// malformed one never runs: Assignments and Validate refuse it.
func micros(d *v1beta1.Decimal) int64 {
	if d == nil {
		return 0
	}
	n, err := Micros(*d)
	if err != nil {
		return 0
	}
	return n
}

// lastRate is the rate at the end of a step of arrivals that is a ramp, in millionths.
func lastRate(l *v1beta1.StepLoad) int64 {
	if l.Rate == nil {
		return 0
	}
	return micros(l.RampTo)
}

// totalMicros is the rate of all users together. It saturates, so that an
// absurd product stays absurd and is refused, instead of wrapping around.
func totalMicros(users int32, ratePerUser int64) int64 {
	hi, lo := bits.Mul64(uint64(max(users, 0)), uint64(ratePerUser))
	if hi != 0 {
		return math.MaxInt64
	}
	return int64(min(lo, math.MaxInt64))
}

// hits is how many hits are due before the end d, when the rate goes linearly from a to b.
func hits(a, b int64, d time.Duration) int64 {
	if a == b {
		return pace.Rate(a).Before(d)
	}
	return pace.Ramp{From: pace.Rate(a), To: pace.Rate(b), Length: d}.Before(d)
}
