package measure

import (
	"io"
	"time"
)

// ticks is how many points of the distribution lie in each half of the distance to
// 100 %, as HdrHistogram's own tools have them.
const ticks = 5

// Percentile is a point of a distribution: that share of the times is at most Time.
type Percentile struct {
	Share float64
	Time  time.Duration
	Count int64
}

// Percentiles are the points of the distribution in steps that become finer towards
// the longest time, which is the last. An empty histogram has none.
func (h *Histogram) Percentiles() []Percentile {
	if h.Count() == 0 {
		return nil
	}
	var list []Percentile
	for _, b := range h.library().CumulativeDistributionWithTicks(ticks) {
		list = append(list, Percentile{Share: b.Quantile / 100, Time: duration(b.ValueAt), Count: b.Count})
	}
	return list
}

// WritePercentiles writes the distribution in HdrHistogram's percentile output, the
// times in milliseconds.
func (h *Histogram) WritePercentiles(w io.Writer) error {
	_, err := h.library().PercentilesPrint(w, ticks, float64(time.Millisecond/Lowest))
	return err
}
