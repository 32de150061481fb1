package plot

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"
)

// Markup is a template named drawing, which writes a Drawing as the inside of an svg
// element, for html/template.
//
//go:embed drawing.html
var Markup string

// Drawing is a figure with its coordinates, as SVG writes them.
type Drawing struct {
	Width, Height            string
	Left, Right, Top, Bottom string
	// Depth is from Top to Bottom.
	Depth          string
	XTitle, YTitle Text
	// XScale and YScale are the scales, for a script that shows values.
	XScale, YScale string
	XTicks, YTicks []Text
	Rules          []Ruler
	Bands          []Band
	// Areas are the bands beside lines: closed paths.
	Areas  []Curve
	Curves []Curve
	Marks  []Placed
	Labels []Text
}

// Text is a text at a place. Class is that of the line it belongs to.
type Text struct{ X, Y, Text, Anchor, Class string }

// Ruler is a vertical line, the shaded width beside it, and its label.
type Ruler struct {
	X, Width string
	Label    Text
}

// Band is a part of the plot's width, and the label above it, if there is room.
type Band struct {
	X, Width string
	Shaded   bool
	Label    Text
}

// Curve is a line's path, what it is called, and what is read when it is pointed at.
type Curve struct{ Class, Path, Name, Title string }

// Placed is a mark at its place.
type Placed struct {
	Class       string
	Shape       Shape
	X, Y, Title string
	// Bar is a path from the mark; "": it has none.
	Bar string
}

// number has a tenth of a unit, which is less than a screen shows.
func number(v float64) string { return strconv.FormatFloat(v, 'f', 1, 64) }

func (f *Figure) path(points []Point) string {
	var b strings.Builder
	for i, p := range points {
		if i == 0 {
			b.WriteByte('M')
		} else {
			b.WriteByte('L')
		}
		b.WriteString(number(f.x(p.X)) + " " + number(f.y(p.Y)))
	}
	if len(points) == 1 {
		b.WriteString("h0") // a dot, where line ends are round
	}
	return b.String()
}

// labels stand beside the ends of their lines, moved apart where they would touch.
func (f *Figure) labels() []Text {
	type label struct {
		x, y float64
		of   Line
	}
	var list []label
	for _, l := range f.Lines {
		if len(l.Points) > 0 && l.Label != "" {
			end := l.Points[len(l.Points)-1]
			list = append(list, label{f.x(end.X), f.y(end.Y), l})
		}
	}
	slices.SortStableFunc(list, func(a, b label) int { return int(a.y - b.y) })
	for i := 1; i < len(list); i++ {
		list[i].y = max(list[i].y, list[i-1].y+labelGap)
	}
	for i := len(list) - 1; i >= 0; i-- {
		floor := f.Height - bottom
		if i+1 < len(list) {
			floor = list[i+1].y - labelGap
		}
		list[i].y = min(list[i].y, floor)
	}
	texts := make([]Text, len(list))
	for i, l := range list {
		texts[i] = Text{X: number(l.x + 9), Y: number(l.y), Text: l.of.Label, Class: l.of.Class}
	}
	return texts
}
