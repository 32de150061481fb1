package draft

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/loadtest-dev/loadtest-operator/text"
)

const (
	// maxSteps bounds the steps of a load that follows something. The API has 64; fewer can
	// be read and changed by a person.
	maxSteps = 32
	// tolerance is the deviation, as a part of the highest rate, from which on steps are added,
	// unless chance makes more of it.
	tolerance = 0.02
	// shortest is the shortest step: steps are half a second apart.
	shortest = 1.0 // second
	// longestLoad is what an operator allows by default, and the longest step of the API.
	longestLoad = 24 * time.Hour
	// minRate and maxRate are the bounds of a rate in the API.
	minRate, maxRate = 0.000001, 999999999
)

// Timing is which part of a log or of a series becomes the load, and how it is changed.
type Timing struct {
	// From and To bound the time in the source, To without itself; zero is no bound.
	From, To time.Time
	// Speed is how many times as fast the time of the source passes, which makes all rates
	// so much higher; rates are then multiplied by Scale. Both are above 0.
	Speed, Scale float64
}

// contains says whether a time is within the bounds.
func (t Timing) contains(at time.Time) bool {
	return (t.From.IsZero() || !at.Before(t.From)) && (t.To.IsZero() || at.Before(t.To))
}

// point is a rate, in requests per second, so many seconds after the beginning.
type point struct{ at, rate float64 }

// step is a part of a load over which the rate changes linearly. Without a rate it is a pause.
type step struct {
	begin, length time.Duration
	from, to      float64
}

// load is what is sent over time, and what is said about it.
type load struct {
	steps []step
	about string
}

// follow makes steps of rates between which the rate changes linearly. The points have
// ascending times, from 0, and are off by the noise. If whole is above 0, it is the number of requests that the points
// stand for, which the steps keep.
func (t Timing) follow(points []point, noise, whole float64, source string) (*load, error) {
	changed := make([]point, len(points))
	peak := 0.0
	for i, p := range points {
		changed[i] = point{at: p.at / t.Speed, rate: p.rate * t.Speed * t.Scale}
		peak = max(peak, changed[i].rate)
	}
	length := changed[len(changed)-1].at
	switch {
	case length > longestLoad.Seconds():
		return nil, fmt.Errorf("it would take %s, and a LoadTest takes at most 24h by default: choose a part with --window FROM/TO, or let its time pass faster with --speed",
			text.Whole(time.Duration(min(length, math.MaxInt64/1e9)*1e9).Round(time.Second)))
	case length < shortest:
		return nil, fmt.Errorf("it would take %s, and a step takes a second at least: lower --speed, or choose a longer --window", text.Short(time.Duration(length*1e9)))
	case peak > maxRate:
		return nil, fmt.Errorf("the highest rate would be %.0f/s, and a step has at most %d/s: lower --scale or --speed", peak, maxRate)
	}
	kept := simplify(changed, max(peak*tolerance, noise*t.Speed*t.Scale))
	if due := area(kept); whole > 0 && due > 0 {
		for i := range kept {
			kept[i].rate = min(kept[i].rate*whole*t.Scale/due, maxRate)
		}
	}
	l := &load{steps: steps(kept)}
	if l.due() < 1 {
		return nil, fmt.Errorf("less than one request would be sent in %s: raise --scale or --speed", text.Whole(time.Duration(length*1e9).Round(time.Second)))
	}
	l.about = fmt.Sprintf("The rates of %s:\n%.0f requests in %s, in %s", source,
		l.due(), text.Whole(time.Duration(length*1e9).Round(time.Second)), text.Plural(int64(len(l.steps)), "step"))
	if len(l.steps) > 1 {
		l.about += " with half a second between them"
	}
	if off := deviation(changed, kept); off > peak*1e-6 {
		l.about += fmt.Sprintf(".\nThey are off by at most %s/s, %.1f%% of the highest rate", decimal(off), 100*off/peak)
	}
	l.about += ". A step is named by the time after\nthe beginning. With arrivals: Poisson, its requests come as those of independent users do."
	return l, nil
}

// simplify keeps the points without which the line between the others would be farthest off
// (Ramer, Douglas and Peucker, by vertical distance), until it is off by no more than the
// bound, or has as many pieces as there may be steps.
func simplify(points []point, bound float64) []point {
	kept := []int{0, len(points) - 1}
	type piece struct {
		index int
		off   float64
	}
	worst := func(a, b int) piece {
		found := piece{index: -1}
		for i := a + 1; i < b; i++ {
			near := points[i].at-points[a].at < shortest || points[b].at-points[i].at < shortest
			if off := math.Abs(points[i].rate - between(points[a], points[b], points[i].at)); !near && off > found.off {
				found = piece{i, off}
			}
		}
		return found
	}
	pieces := []piece{worst(0, len(points)-1)}
	for len(pieces) < maxSteps {
		at := 0
		for i := range pieces {
			if pieces[i].off > pieces[at].off {
				at = i
			}
		}
		split := pieces[at]
		if split.index < 0 || split.off <= bound {
			break
		}
		a, b := kept[at], kept[at+1]
		kept = append(kept[:at+1], append([]int{split.index}, kept[at+1:]...)...)
		pieces = append(pieces[:at], append([]piece{worst(a, split.index), worst(split.index, b)}, pieces[at+1:]...)...)
	}
	list := make([]point, len(kept))
	for i, index := range kept {
		list[i] = points[index]
	}
	return list
}

// between is the rate at a time on the line from one point to another.
func between(a, b point, at float64) float64 {
	return a.rate + (b.rate-a.rate)*(at-a.at)/(b.at-a.at)
}

// deviation is how far the line between the kept points is off at most.
func deviation(points, kept []point) float64 {
	off, piece := 0.0, 0
	for _, p := range points {
		for piece+2 < len(kept) && p.at > kept[piece+1].at {
			piece++
		}
		off = max(off, math.Abs(p.rate-between(kept[piece], kept[piece+1], p.at)))
	}
	return off
}

// area is how many requests are due.
func area(points []point) (sum float64) {
	for i := range len(points) - 1 {
		sum += (points[i].rate + points[i+1].rate) / 2 * (points[i+1].at - points[i].at)
	}
	return sum
}

// steps are the pieces of the line. One in which less than one request is due is a pause.
func steps(points []point) []step {
	list := make([]step, 0, len(points)-1)
	whole := func(seconds float64) time.Duration {
		return time.Duration(math.Round(seconds*1000)) * time.Millisecond
	}
	for i := range len(points) - 1 {
		a, b := points[i], points[i+1]
		s := step{begin: whole(a.at), length: whole(b.at) - whole(a.at)}
		if (a.rate+b.rate)/2*s.length.Seconds() >= 1 {
			// A ramp in the API begins and ends above 0.
			least := max(minRate, max(a.rate, b.rate)/10_000)
			s.from, s.to = max(a.rate, least), max(b.rate, least)
		}
		list = append(list, s)
	}
	return list
}

// due is how many requests are sent.
func (l *load) due() (sum float64) {
	for _, s := range l.steps {
		sum += (s.from + s.to) / 2 * s.length.Seconds()
	}
	return sum
}

// field is the load as spec.steps.
func (l *load) field() pair {
	items := make([]*yaml.Node, len(l.steps))
	for i, s := range l.steps {
		fields := []pair{field("name", scalar("at "+text.Whole(s.begin)))}
		if s.from == 0 {
			items[i] = flowObject(append(fields, field("pause", scalar(text.Whole(s.length))))...)
			continue
		}
		fields = append(fields, field("rate", rate(s.from)))
		if decimal(s.to) != decimal(s.from) {
			fields = append(fields, field("rampTo", rate(s.to)))
		}
		items[i] = flowObject(append(fields, field("duration", scalar(text.Whole(s.length))))...)
	}
	return remark(field("steps", list(items...)), l.about)
}

// rate is a rate as the API has it: a whole number, or a decimal in quotes.
func rate(perSecond float64) *yaml.Node {
	value := decimal(perSecond)
	if n, err := strconv.Atoi(value); err == nil {
		return number(n)
	}
	return scalar(value)
}

// decimal is a number of four digits that count, or more before the point, and at most six
// behind it.
func decimal(n float64) string {
	digits := 6
	if n > 0 {
		digits = min(6, max(0, 3-int(math.Floor(math.Log10(n)))))
	}
	value := strconv.FormatFloat(n, 'f', digits, 64)
	if strings.Contains(value, ".") {
		value = strings.TrimRight(strings.TrimRight(value, "0"), ".")
	}
	return value
}
