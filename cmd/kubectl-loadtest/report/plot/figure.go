package plot

import (
	"cmp"
	"math"
	"slices"
)

// Figure is a plot of lines over two axes.
type Figure struct {
	Width, Height float64
	X, Y          Axis
	Lines         []Line
	Rules         []Rule
	Spans         []Span
}

// Axis is a scale with a title that names the quantity and its unit.
type Axis struct {
	Title string
	Scale Scale
	Ticks []Tick
	// Write says a value with its unit; nil: the axis has none that are said.
	Write func(float64) string
}

// Tick is a value that is labelled.
type Tick struct {
	At    float64
	Label string
}

// Line goes through points. Its label stands at its end.
type Line struct {
	Label string
	// Name is what the line is called where it has no label: one of several that follow each
	// other, of which the last is labelled.
	Name string
	// Class is the line's class in the style sheet.
	Class  string
	Points []Point
	// Other are points between which and the line a band is drawn, if it is broad enough
	// anywhere to be seen.
	Other []Point
	// Marks are points that are shown as such, with what is read when they are pointed
	// at.
	Marks []Mark
}

// Point is a pair of values.
type Point struct{ X, Y float64 }

// Mark is a point that stands out. Its shape says what its class's colour says.
type Mark struct {
	Point
	Shape Shape
	Title string
	// Least and Greatest are the ends of a bar through the mark, along the Y axis; both 0:
	// it has none.
	Least, Greatest float64
}

// Shape is how a mark looks.
type Shape string

// The shapes of a mark.
const (
	Dot   Shape = "dot"
	Ring  Shape = "ring"
	Cross Shape = "cross"
)

// Rule is a value of the X axis from which on the plot is shaded.
type Rule struct {
	At    float64
	Label string
}

// Span is a part of the X axis with a label above it. Every second one is shaded.
type Span struct {
	From, To float64
	Label    string
}

// The room around the plot, in which ticks and labels stand. Labels of lines stand to its
// right, which is leastRight wide or as much as the longest of them takes.
const (
	left, leastRight, top, bottom = 58, 84, 34, 44
	// labelGap is the least distance of two labels above each other, tickGap that of two
	// ticks of the X axis for each character of their labels.
	labelGap, tickGap = 15, 7.5
	// labelWidth is the width of a character of a label, and labelOffset how far labels
	// stand from the plot.
	labelWidth, labelOffset = 7.5, 14
)

func (f *Figure) x(v float64) float64 {
	return left + f.X.Scale.At(v)*(f.Width-left-f.right())
}

// right is the width to the right of the plot, at most a third of the whole.
func (f *Figure) right() float64 {
	longest := 0
	for _, l := range f.Lines {
		longest = max(longest, len([]rune(l.Label)))
	}
	return min(max(leastRight, labelOffset+labelWidth*float64(longest)), f.Width/3)
}

func (f *Figure) y(v float64) float64 {
	return top + (1-f.Y.Scale.At(v))*(f.Height-top-bottom)
}

// Draw computes where everything stands.
func (f *Figure) Draw() *Drawing {
	d := &Drawing{
		Width: number(f.Width), Height: number(f.Height),
		Left: number(left), Right: number(f.Width - f.right()), Top: number(top), Bottom: number(f.Height - bottom),
		Depth:  number(f.Height - bottom - top),
		XTitle: Text{X: number((left + f.Width - f.right()) / 2), Y: number(f.Height - 8), Text: f.X.Title + f.X.Scale.note()},
		YTitle: Text{X: number(2), Y: number(top - 24), Text: f.Y.Title + f.Y.Scale.note()},
		XScale: f.X.Scale.String(), YScale: f.Y.Scale.String(),
	}
	f.ticks(d)
	for _, r := range f.Rules {
		d.Rules = append(d.Rules, f.rule(r))
	}
	f.spans(d)
	for _, l := range f.Lines {
		if f.isBroad(l) {
			d.Areas = append(d.Areas, Curve{Class: l.Class, Path: f.outline(l)})
		}
	}
	for _, l := range f.Lines {
		d.Curves = append(d.Curves, Curve{Class: l.Class, Path: f.path(l.Points), Name: cmp.Or(l.Label, l.Name), Title: f.says(l)})
		for _, m := range l.Marks {
			d.Marks = append(d.Marks, Placed{Class: l.Class, Shape: m.Shape, X: number(f.x(m.X)), Y: number(f.y(m.Y)), Title: m.Title, Bar: f.bar(m)})
		}
	}
	d.Labels = f.labels()
	return d
}

// bar is the path of a mark's bar, from the mark: a line with a cap at each end.
func (f *Figure) bar(m Mark) string {
	if m.Least == 0 && m.Greatest == 0 {
		return ""
	}
	const half = 4
	up, down := number(f.y(m.Greatest)-f.y(m.Y)), number(f.y(m.Least)-f.y(m.Y))
	ends := "M" + number(-half) + " "
	return ends + up + "H" + number(half) + ends + down + "H" + number(half) + "M0 " + up + "V" + down
}

// says is what is read of a line that is pointed at, without a script: its name, and its least
// and greatest values.
func (f *Figure) says(l Line) string {
	if len(l.Points) == 0 || f.Y.Write == nil {
		return ""
	}
	byValue := func(a, b Point) int { return cmp.Compare(a.Y, b.Y) }
	least, most := f.Y.Write(slices.MinFunc(l.Points, byValue).Y), f.Y.Write(slices.MaxFunc(l.Points, byValue).Y)
	said := cmp.Or(l.Label, l.Name)
	if said != "" {
		said += ": "
	}
	if least == most {
		return said + least
	}
	return said + least + " to " + most
}

// ticks leaves out those of the X axis whose labels would touch.
func (f *Figure) ticks(d *Drawing) {
	for _, t := range f.Y.Ticks {
		d.YTicks = append(d.YTicks, Text{X: number(left - 8), Y: number(f.y(t.At)), Text: t.Label})
	}
	free := math.Inf(-1)
	for _, t := range f.X.Ticks {
		x, half := f.x(t.At), tickGap*float64(len([]rune(t.Label)))/2
		if x-half < free {
			continue
		}
		free = x + half + tickGap
		d.XTicks = append(d.XTicks, Text{X: number(x), Y: number(f.Height - bottom + 18), Text: t.Label})
	}
}

// rule has its label above the plot, where no line is, on the side that has more room.
func (f *Figure) rule(r Rule) Ruler {
	x := f.x(r.At)
	at := Ruler{X: number(x), Width: number(f.Width - f.right() - x), Label: Text{X: number(x), Y: number(top - 8), Text: r.Label, Anchor: "end"}}
	if x < f.Width/2 {
		at.Label.Anchor = "start"
	}
	return at
}

// spans leaves out labels that would touch the one before.
func (f *Figure) spans(d *Drawing) {
	free := math.Inf(-1)
	for i, s := range f.Spans {
		from, to := f.x(s.From), f.x(s.To)
		band := Band{X: number(from), Width: number(max(0, to-from)), Shaded: i%2 == 1}
		if from >= free {
			band.Label = Text{X: number(from + 2), Y: number(top - 4), Text: s.Label}
			free = from + tickGap*float64(len([]rune(s.Label))+1)
		}
		d.Bands = append(d.Bands, band)
	}
}
