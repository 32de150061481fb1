package text

import (
	"fmt"
	"math"
	"math/big"
	"strings"
	"time"
)

// Short is a duration for people, in two or three digits: "697us", "4.1ms",
// "41ms", "3.9s", "72s".
func Short(d time.Duration) string {
	switch {
	case d.Round(time.Microsecond) < time.Millisecond:
		return fmt.Sprintf("%dus", d.Round(time.Microsecond)/time.Microsecond)
	case d.Round(time.Millisecond) < time.Second:
		return scaled(d, time.Millisecond) + "ms"
	default:
		return scaled(d, time.Second) + "s"
	}
}

// Whole is a duration that was chosen, with all its digits and without zero units at
// its end: "1m", not "1m0s".
func Whole(d time.Duration) string {
	s := d.String()
	if d >= time.Minute && d%time.Minute == 0 {
		s = s[:len(s)-len("0s")]
	}
	if d >= time.Hour && d%time.Hour == 0 {
		s = s[:len(s)-len("0m")]
	}
	return s
}

// Clock is an instant within a day, in UTC: "15:04:05 UTC".
func Clock(t time.Time) string { return t.UTC().Format("15:04:05 UTC") }

// Plural is a number of things: "1 step", "2 steps".
func Plural(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// scaled is d in a unit, with a digit behind the point below ten.
func scaled(d, unit time.Duration) string {
	tenths := d.Round(unit/10) / (unit / 10)
	if tenths >= 100 || tenths%10 == 0 {
		return fmt.Sprint(int64(d.Round(unit) / unit))
	}
	return fmt.Sprintf("%d.%d", tenths/10, tenths%10)
}

// Digits is how many digits behind the point leave a number with two that count: one, and
// more of a number below 1.
func Digits(n float64) int {
	digits := 1
	for n = math.Abs(n); n > 0 && n < 1; n *= 10 {
		digits++
	}
	return digits
}

// Rate is a rate as StepResult holds it ("9998.3"), for people: "0.046/s", "4.5/s",
// "9998/s", "21k/s", "1.2M/s". It is "" for what is no rate.
func Rate(perSecond string) string {
	rate, ok := new(big.Rat).SetString(perSecond)
	if !ok {
		return ""
	}
	switch {
	case rate.Cmp(big.NewRat(1, 10)) < 0:
		n, _ := rate.Float64()
		return trimZeros(rate.FloatString(Digits(n))) + "/s"
	case rate.Cmp(big.NewRat(10, 1)) < 0:
		return trimZeros(rate.FloatString(1)) + "/s"
	case rate.Cmp(big.NewRat(99_995, 10)) < 0:
		return rate.FloatString(0) + "/s"
	case rate.Cmp(big.NewRat(999_500, 1)) < 0:
		return over(rate, 1_000).FloatString(0) + "k/s"
	default:
		return trimZeros(over(rate, 1_000_000).FloatString(1)) + "M/s"
	}
}

// Decimal is a number as StepResult holds it ("41.0"), without zeros behind the point.
func Decimal(text string) string {
	if !strings.Contains(text, ".") {
		return text
	}
	return trimZeros(text)
}

// Grew is what piled up in a step, as the beginning of a sentence: all that say it do so in
// the same words, so that a report can leave out what was said.
func Grew(perSecond, step string) string {
	return fmt.Sprintf("Outstanding requests grew by %s/s in step %s", Decimal(perSecond), step)
}

// Percent is a share for people, with two digits behind the point at most:
// "0%", "0.03%", "36%". What is neither nothing nor all never reads as such. It
// is "" for a share of nothing.
func Percent(part, whole int64) string {
	if whole <= 0 {
		return ""
	}
	text := trimZeros(new(big.Rat).Mul(big.NewRat(part, whole), big.NewRat(100, 1)).FloatString(2))
	switch {
	case part > 0 && text == "0":
		return "<0.01%"
	case part < whole && text == "100":
		return ">99.99%"
	}
	return text + "%"
}

func over(r *big.Rat, n int64) *big.Rat { return new(big.Rat).Quo(r, big.NewRat(n, 1)) }

// trimZeros drops the zeros at the end of a decimal fraction.
func trimZeros(s string) string {
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}
