package grpc

import (
	"strconv"
	"time"
)

// mostTimeout is more than the largest number that grpc-timeout may have.
const mostTimeout = 100_000_000

// Timeout is the value of grpc-timeout, in the smallest unit of which it has no more than 8
// digits.
func Timeout(d time.Duration) string {
	unit, n := "n", int64(d)
	for _, larger := range []string{"u", "m"} {
		if n < mostTimeout {
			break
		}
		unit, n = larger, n/1000
	}
	return strconv.FormatInt(min(n, mostTimeout-1), 10) + unit
}
