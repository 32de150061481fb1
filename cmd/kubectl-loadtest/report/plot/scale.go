package plot

import (
	"math"
	"strconv"
)

// Scale is a value's place along an axis. The zero value is not usable.
type Scale struct {
	kind      string
	low, high float64
	of        func(float64) float64
}

// Linear gives equal differences equal room.
func Linear(low, high float64) Scale {
	return Scale{"linear", low, high, func(v float64) float64 { return v }}
}

// Log gives equal ratios equal room. What is not positive stands at the low end.
func Log(low, high float64) Scale {
	return Scale{"log", math.Log10(low), math.Log10(high), math.Log10}
}

// Tail is HdrHistogram's scale of shares from 0 to that of nines: each further
// nine (90 %, 99 %, 99.9 %) has the room of the one before.
func Tail(nines float64) Scale {
	return Scale{"tail", 0, nines, Nines}
}

// Nines is how many nines a share has: 1 for 90 %, 2 for 99 %.
func Nines(share float64) float64 { return -math.Log10(1 - share) }

// At is a value's place from 0 to 1. Values beyond an end stand at it.
func (s Scale) At(v float64) float64 {
	at := (s.of(v) - s.low) / (s.high - s.low)
	if math.IsNaN(at) {
		return 0
	}
	return min(max(at, 0), 1)
}

// note is what the title of an axis says of the scale.
func (s Scale) note() string {
	if s.kind == "log" {
		return ", logarithmic"
	}
	return ""
}

// String is the scale for a script that reads values from places: what it is linear in, and
// that at both ends, "log -3 1".
func (s Scale) String() string {
	end := func(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }
	return s.kind + " " + end(s.low) + " " + end(s.high)
}
