package plot

import (
	"math"
	"slices"
)

// broad is how broad a band must be somewhere to be drawn, as a part of the height of the
// plot: 2 %, which are four pixels or more.
const broad = 0.02

// isBroad says whether the band beside a line can be seen.
func (f *Figure) isBroad(l Line) bool {
	if there, back := l.overlap(); len(there) == 0 || len(back) == 0 {
		return false
	}
	return slices.ContainsFunc(l.Other, func(p Point) bool {
		return math.Abs(f.Y.Scale.At(l.at(p.X))-f.Y.Scale.At(p.Y)) > broad
	})
}

// at is the line's value at a place: that of the nearest end beyond its ends.
func (l Line) at(x float64) float64 {
	for i, p := range l.Points {
		switch {
		case p.X < x:
		case i == 0 || p.X == x:
			return p.Y
		default:
			q := l.Points[i-1]
			return q.Y + (p.Y-q.Y)*(x-q.X)/(p.X-q.X)
		}
	}
	return l.Points[len(l.Points)-1].Y
}

// overlap are the line's points, and its other points, where there are both.
func (l Line) overlap() (there, back []Point) {
	if len(l.Points) == 0 || len(l.Other) == 0 {
		return nil, nil
	}
	from := max(l.Points[0].X, l.Other[0].X)
	to := min(l.Points[len(l.Points)-1].X, l.Other[len(l.Other)-1].X)
	outside := func(p Point) bool { return p.X < from || p.X > to }
	return slices.DeleteFunc(slices.Clone(l.Points), outside), slices.DeleteFunc(slices.Clone(l.Other), outside)
}

// outline is the path around the band beside a line: along the line, and back along its
// other points. Both end where the first of them does.
func (f *Figure) outline(l Line) string {
	there, back := l.overlap()
	slices.Reverse(back)
	if len(there) == 1 && len(back) == 1 { // at one place, the band is as broad as a mark
		const half = 2.5
		x, high, low := f.x(there[0].X), f.y(there[0].Y), f.y(back[0].Y)
		return "M" + number(x-half) + " " + number(high) + "H" + number(x+half) + "V" + number(low) + "H" + number(x-half) + "Z"
	}
	return f.path(append(there, back...)) + "Z"
}
