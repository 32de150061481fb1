package report

import (
	"math/big"
	"time"
)

const (
	// apartShare and apartTime are by how much a value has to differ without the generator's
	// own delay for both to be shown: by 1/50 of what was measured and, of times, by a
	// millisecond. A sound generator's delay is less.
	apartShare = 50
	apartTime  = time.Millisecond
)

// areValuesApart says whether the two ends of a bracket differ by so much that both are worth
// saying.
func areValuesApart(measured, without *big.Rat) bool {
	apart := new(big.Rat).Sub(measured, without)
	apart.Abs(apart).Mul(apart, big.NewRat(apartShare, 1))
	return apart.Cmp(new(big.Rat).Abs(measured)) > 0
}

// areTimesApart says the same of times.
func areTimesApart(measured, without time.Duration) bool {
	return (measured-without).Abs() >= apartTime && areValuesApart(inNanos(measured), inNanos(without))
}

func inNanos(d time.Duration) *big.Rat { return big.NewRat(int64(d), 1) }
