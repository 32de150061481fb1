// Package sample has changes that its tests notice, and some that they do not.
package sample

import "time"

// Level is a number of some kind.
type Level int64

const half = 1 << 1

// Clip is n or the nearer of two bounds; a most of 0 is none.
func Clip(n, least, most Level) Level {
	if n < least {
		return least
	}
	if n > most && most > 0 {
		return most
	}
	return n
}

// Sum adds what is not skipped.
func Sum(all []float64, skip func(float64) bool) (sum float64, n int64) {
	for _, x := range all {
		if skip != nil && skip(x) {
			continue
		}
		sum += x
		n++
	}
	return sum, n
}

// Halvings is how often n is divided by two until 1 is left.
func Halvings(n int) (times int) {
	for n > 1 {
		n = n / half
		times++
	}
	return times
}

// IsOver says whether an hour, or the limit, has passed.
func IsOver(d time.Duration, limit *time.Duration) (over bool, err error) {
	switch {
	case d-time.Hour >= 0, limit != nil && d > *limit:
		return true, nil
	case d < 0 || missing(limit):
		note("none")
		return false, nil
	}
	return 0 == 1, nil
}

func missing(limit *time.Duration) bool { return limit == nil }

var noted []string

func note(what string) { noted = append(noted, what) }
