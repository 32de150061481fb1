package draft

import (
	"maps"
	"math"
	"slices"
	"time"
)

// maxParts bounds the memory of a count: at first, a part is a second, which is enough for a
// day without an empty second.
const maxParts = 1 << 17

// rateCount counts requests in equal parts of time, in any order. Empty parts take no memory. If
// there are too many others, parts become twice as long.
type rateCount struct {
	total int64
	// width is the length of a part, in seconds, and parts the requests of each by its number of
	// widths since 1970.
	width int64
	parts map[int64]int64
	// earliest and latest are the first and the last time, with their lines.
	earliest, latest      time.Time
	earlyLine, latestLine int64
}

func (c *rateCount) add(at time.Time, line int64) {
	if c.total == 0 {
		c.width, c.parts = 1, map[int64]int64{}
		c.earliest, c.latest, c.earlyLine, c.latestLine = at, at, line, line
	}
	if at.Before(c.earliest) {
		c.earliest, c.earlyLine = at, line
	}
	if at.After(c.latest) {
		c.latest, c.latestLine = at, line
	}
	c.total++
	c.parts[c.part(at)]++
	for len(c.parts) > maxParts {
		c.width *= 2
		wide := make(map[int64]int64, len(c.parts))
		for i, n := range c.parts {
			wide[i/2] += n
		}
		c.parts = wide
	}
}

func (c *rateCount) part(at time.Time) int64 { return at.Unix() / c.width }

// begin is when the first part begins, and whole the number of parts to the last, with those
// that are empty.
func (c *rateCount) begin() time.Time { return time.Unix(c.part(c.earliest)*c.width, 0).UTC() }
func (c *rateCount) whole() int64     { return c.part(c.latest) - c.part(c.earliest) + 1 }

// mean and peak are requests per second: of all, and of the part with the most.
func (c *rateCount) mean() float64 { return float64(c.total) / float64(c.whole()*c.width) }
func (c *rateCount) peak() float64 {
	return float64(slices.Max(slices.Collect(maps.Values(c.parts)))) / float64(c.width)
}

// smooth is a rate over time without what chance makes of it.
type smooth struct {
	points []point
	// part is the length of the parts of which the points are means, and noise how far two of
	// three of them are off by chance at most, if requests are independent: a Poisson process.
	part  time.Duration
	noise float64
}

// smooth are the rates in so few parts that each has enough requests on average, and is two
// seconds long at that speed. The line through the middles of the parts has as many requests as the
// parts have.
func (c *rateCount) smooth(speed float64) smooth {
	const enough, most = 100, 64
	whole, first := c.whole(), c.part(c.earliest)
	group := min(whole, max(1, (whole+most-1)/most, int64(float64(whole)*enough/float64(c.total)), int64(math.Ceil(2*speed/float64(c.width)))))
	sums := make([]int64, (whole+group-1)/group)
	for i, n := range c.parts {
		sums[(i-first)/group] += n
	}
	s := smooth{part: time.Duration(min(group*c.width, math.MaxInt64/int64(time.Second))) * time.Second}
	for i, n := range sums {
		begin := int64(i) * group
		size := float64(min(group, whole-begin) * c.width)
		p := point{at: float64(begin*c.width) + size/2, rate: float64(n) / size}
		if i == 0 {
			s.points = append(s.points, point{rate: p.rate})
		}
		s.points = append(s.points, p)
		s.noise = max(s.noise, math.Sqrt(float64(n))/size)
	}
	s.points = append(s.points, point{at: float64(whole * c.width), rate: s.points[len(s.points)-1].rate})
	return s
}
