package draft

import (
	"slices"
	"time"
)

// maxParts bounds the memory of a count: at first, a part is a second.
const maxParts = 1 << 14

// rateCount counts requests in equal parts of time, in any order. If there are too many parts,
// two become one.
type rateCount struct {
	total int64
	// width is the length of a part, and first the number of widths from 1970 to the first part.
	width, first int64 // seconds
	parts        []int64
	// earliest and latest are the first and the last time, with their lines.
	earliest, latest  time.Time
	earlyLine, atLine int64
}

func (c *rateCount) add(at time.Time, line int64) {
	second := at.Unix()
	if c.total == 0 {
		c.width, c.first = 1, second
		c.earliest, c.latest, c.earlyLine, c.atLine = at, at, line, line
	}
	if at.Before(c.earliest) {
		c.earliest, c.earlyLine = at, line
	}
	if at.After(c.latest) {
		c.latest, c.atLine = at, line
	}
	c.total++
	for max(second/c.width, c.first+int64(len(c.parts))-1)-min(second/c.width, c.first) >= maxParts {
		c.widen()
	}
	i := second/c.width - c.first
	if i < 0 {
		c.parts = slices.Insert(c.parts, 0, make([]int64, -i)...)
		c.first, i = c.first+i, 0
	}
	if missing := int(i) + 1 - len(c.parts); missing > 0 {
		c.parts = append(c.parts, make([]int64, missing)...)
	}
	c.parts[i]++
}

func (c *rateCount) widen() {
	var wide []int64
	first := c.first / 2
	for i, n := range c.parts {
		at := (c.first+int64(i))/2 - first
		if int(at) == len(wide) {
			wide = append(wide, 0)
		}
		wide[at] += n
	}
	c.width, c.first, c.parts = 2*c.width, first, wide
}

// begin is when the first part begins, and length how long all of them take.
func (c *rateCount) begin() time.Time { return time.Unix(c.first*c.width, 0).UTC() }
func (c *rateCount) length() time.Duration {
	return time.Duration(min(int64(len(c.parts))*c.width, 1<<33)) * time.Second
}

// mean and peak are requests per second: of all, and of the part with the most.
func (c *rateCount) mean() float64 { return float64(c.total) / c.length().Seconds() }
func (c *rateCount) peak() float64 { return float64(slices.Max(c.parts)) / float64(c.width) }

// points are the rates, in so few parts that chance does not make them: with so many requests
// in a part on average, its rate is off by a fifth, as a Poisson process is. The line through
// the middles of the parts has as many requests as the parts have. It returns their length.
func (c *rateCount) points(speed float64) ([]point, time.Duration) {
	const enough, most = 25, 64
	whole := int64(len(c.parts))
	group := max(1, (whole+most-1)/most, whole*enough/max(c.total, 1), int64(2*speed)/c.width)
	var list []point
	for i := int64(0); i < whole; i += group {
		size, sum := min(group, whole-i), int64(0)
		for _, n := range c.parts[i : i+size] {
			sum += n
		}
		p := point{at: (float64(i) + float64(size)/2) * float64(c.width), rate: float64(sum) / float64(size*c.width)}
		if i == 0 {
			list = append(list, point{rate: p.rate})
		}
		list = append(list, p)
	}
	list = append(list, point{at: float64(whole * c.width), rate: list[len(list)-1].rate})
	return list, time.Duration(min(group, whole)*c.width) * time.Second
}
