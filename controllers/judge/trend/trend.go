package trend

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/loadtest-dev/loadtest-operator/measure"
)

const (
	// parts is into how many parts a window is divided, settling how many of them, the
	// first ones, are left out at least, and fewest how many must be left: of fewer, none is significant.
	parts, settling, fewest = 20, 2, 8
	// significant is the z beyond which there is a trend.
	significant = 3
	// leastDue is of how many requests, one for each part, a trend can be told.
	leastDue = parts
	// leastGrown is by how many requests what is outstanding has grown at least. Where the
	// instants at which it is counted move slowly against those at which requests are due,
	// it seems to grow by one.
	leastGrown = 2
)

// Trend is what became of what is outstanding.
type Trend int

const (
	// Unknown is the trend of too few requests.
	Unknown Trend = iota
	// Steady does not grow.
	Steady
	// Growing grows.
	Growing
)

// Outstanding is what was outstanding in a step.
type Outstanding struct {
	// Trend is Unknown, Steady or Growing.
	Trend Trend
	// Mean is how many requests were outstanding, in the mean of the parts that count.
	Mean float64
	// Growth is by how many requests a second that grew, whatever the trend; negative if it
	// fell.
	Growth float64
}

// Of is what was outstanding in a window in which that many requests were due, once the load has settled. t may be
// nil: it is Unknown then.
func Of(t *measure.Timeline, window, settled time.Duration, due int64) Outstanding {
	if t == nil || window <= 0 {
		return Outstanding{}
	}
	skipped := math.Ceil(min(parts-1, parts*settled.Seconds()/window.Seconds()))
	means := partMeans(&t.Outstanding, max(settling, int(skipped)))
	part := window.Seconds() / parts
	o := Outstanding{Mean: mean(means), Growth: Slope(means) / part}
	switch {
	case due < leastDue, len(means) < fewest:
	case Z(means) > significant && o.Growth*part*float64(len(means)) >= leastGrown:
		o.Trend = Growing
	default:
		o.Trend = Steady
	}
	return o
}

// partMeans are the means of the parts that count: those after so many.
func partMeans(slots *[measure.TimelineSlots]int64, skipped int) []float64 {
	const each = measure.TimelineSlots / parts
	var means []float64
	for part := range slices.Chunk(slots[skipped*each:], each) {
		var sum int64
		for _, n := range part {
			sum += n
		}
		means = append(means, float64(sum)/each)
	}
	return means
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// Z is the statistic of Mann and Kendall: about normal with mean 0 and deviation 1 if the
// values have no trend, positive if they rise. It is 0 of values that are all the same.
func Z(values []float64) float64 {
	s := 0
	for i, a := range values {
		for _, b := range values[i+1:] {
			s += cmp.Compare(b, a)
		}
	}
	n := len(values)
	v := n * (n - 1) * (2*n + 5)
	for _, t := range ties(values) {
		v -= t * (t - 1) * (2*t + 5)
	}
	if v <= 0 || s == 0 {
		return 0
	}
	return float64(s-cmp.Compare(s, 0)) / math.Sqrt(float64(v)/18)
}

// ties are how many values there are of each.
func ties(values []float64) map[float64]int {
	n := map[float64]int{}
	for _, v := range values {
		n[v]++
	}
	return n
}

// Slope is the median of the slopes of all pairs of values, in steps of one value; 0 of
// fewer than two.
func Slope(values []float64) float64 {
	var slopes []float64
	for i := range values {
		for j := i + 1; j < len(values); j++ {
			slopes = append(slopes, (values[j]-values[i])/float64(j-i))
		}
	}
	if len(slopes) == 0 {
		return 0
	}
	slices.Sort(slopes)
	half := len(slopes) / 2
	if len(slopes)%2 == 0 {
		return (slopes[half-1] + slopes[half]) / 2
	}
	return slopes[half]
}
