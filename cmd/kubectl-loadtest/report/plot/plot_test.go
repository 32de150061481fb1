package plot

import (
	"math"
	"strconv"
	"strings"
	"testing"
	"testing/quick"

	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func TestScales(t *testing.T) {
	tests := map[string]struct {
		scale Scale
		at    map[float64]float64
	}{
		"linear": {Linear(0, 10), map[float64]float64{0: 0, 5: 0.5, 10: 1, -1: 0, 20: 1}},
		"log":    {Log(1, 100), map[float64]float64{1: 0, 10: 0.5, 100: 1, 0: 0, -3: 0, 1e9: 1}},
		"tail":   {Tail(4), map[float64]float64{0: 0, 0.9: 0.25, 0.99: 0.5, 0.9999: 1, 1: 1}},
	}
	for name, test := range tests {
		for v, want := range test.at {
			if got := test.scale.At(v); math.Abs(got-want) > 1e-9 {
				t.Errorf("%s: %g stands at %g, want %g", name, v, got, want)
			}
		}
	}
}

// Whatever the values are, they stand between the ends, and so do the ticks, which
// rise and are few.
func TestBoundsHoldTheirValues(t *testing.T) {
	hold := func(raw []uint32, exponent uint8) bool {
		values := []float64{0}
		for _, v := range raw {
			values = append(values, float64(v)*math.Pow(10, float64(exponent%12)-9))
		}
		scale, ticks := Bounds(values)
		at := -1.0
		for _, tick := range ticks {
			next := scale.At(tick)
			if next <= at && len(ticks) > 1 {
				return false
			}
			at = next
		}
		for _, v := range values {
			if a := scale.At(v); a < 0 || a > 1 || math.IsNaN(a) {
				return false
			}
		}
		return len(ticks) >= 1 && len(ticks) <= 16
	}
	if err := quick.Check(hold, nil); err != nil {
		t.Error(err)
	}
}

func TestTicksAreRound(t *testing.T) {
	for _, test := range []struct {
		values []float64
		want   []float64
	}{
		{[]float64{60, 45}, []float64{0, 20, 40, 60}},
		{[]float64{9}, []float64{0, 2.5, 5, 7.5, 10}},
		{[]float64{100, 4000}, []float64{100, 200, 500, 1000, 2000, 5000}},
		{[]float64{0.004, 13}, []float64{0.01, 0.1, 1, 10}},
		{[]float64{0, 0}, []float64{0, 1}},
		{nil, []float64{0, 1}},
	} {
		_, got := Bounds(test.values)
		same := len(got) == len(test.want)
		for i := range got {
			same = same && math.Abs(got[i]-test.want[i]) < 1e-9
		}
		if !same {
			t.Errorf("the ticks of %v are %v, want %v", test.values, got, test.want)
		}
	}
}

// Labels of lines that end together stand apart and within the plot.
func TestLabelsDoNotTouch(t *testing.T) {
	f := Figure{Width: 380, Height: 280, X: Axis{Scale: Linear(0, 1)}, Y: Axis{Scale: Linear(0, 1)}}
	for range 8 {
		f.Lines = append(f.Lines, Line{Label: "same", Points: []Point{{0, 0}, {1, 0.02}}})
	}
	before := math.Inf(-1)
	for _, l := range f.Draw().Labels {
		y, err := strconv.ParseFloat(l.Y, 64)
		if err != nil || y-before < labelGap-0.1 || y < top || y > f.Height-bottom+0.1 {
			t.Errorf("a label stands at %s after %g (%v)", l.Y, before, err)
		}
		before = y
	}
}

// The label of a line is as wide as its characters, here of 7 pixels, and stands within
// the figure; one that is too long for that leaves two thirds to the plot.
func TestLabelsAreNotCutOff(t *testing.T) {
	draw := func(label string) (x, right float64) {
		f := Figure{Width: 620, Height: 280, X: Axis{Scale: Linear(0, 1)}, Y: Axis{Scale: Linear(0, 1)}}
		f.Lines = []Line{{Label: label, Points: []Point{{0, 0}, {1, 1}}}}
		d := f.Draw()
		x, errX := strconv.ParseFloat(d.Labels[0].X, 64)
		right, errRight := strconv.ParseFloat(d.Right, 64)
		if errX != nil || errRight != nil {
			t.Fatal(errX, errRight)
		}
		return x, right
	}
	for _, label := range []string{"v1", "transaction-429", "checkout-with-redis"} {
		if x, _ := draw(label); x+7*float64(len(label)) > 620 {
			t.Errorf("the label %s begins at %g of 620", label, x)
		}
	}
	if _, right := draw(strings.Repeat("long", 30)); right < 410 {
		t.Errorf("a long label leaves %g of 620 to the plot", right)
	}
}

func TestTicksThatWouldTouchAreLeftOut(t *testing.T) {
	f := Figure{Width: 380, Height: 280, X: Axis{Scale: Linear(0, 64)}, Y: Axis{Scale: Linear(0, 1)}}
	for i := range 65 {
		f.X.Ticks = append(f.X.Ticks, Tick{At: float64(i), Label: "12345"})
	}
	if n := len(f.Draw().XTicks); n < 2 || n > 6 {
		t.Errorf("%d labels of 5 characters on 240 units", n)
	}
}

// A band is drawn between a line and its other points if it is a 50th of the plot's height
// or more anywhere: here 4.04 of 202 units.
func TestBandIsDrawnWhereItCanBeSeen(t *testing.T) {
	for name, tt := range map[string]struct {
		line, other []Point
		want        string
	}{
		"none":          {[]Point{{0, 0.5}, {1, 0.5}}, nil, ""},
		"the same":      {[]Point{{0, 0.5}, {1, 0.5}}, []Point{{0, 0.5}, {1, 0.5}}, ""},
		"too thin":      {[]Point{{0, 0.5}, {1, 0.5}}, []Point{{0, 0.481}, {1, 0.481}}, ""},
		"broad":         {[]Point{{0, 0.5}, {1, 0.5}}, []Point{{0, 0.5}, {1, 0}}, "M58.0 135.0L296.0 135.0L296.0 236.0L58.0 135.0Z"},
		"between marks": {[]Point{{0, 0}, {1, 1}}, []Point{{0, 0}, {0.5, 0}, {1, 1}}, "M58.0 236.0L296.0 34.0L296.0 34.0L177.0 236.0L58.0 236.0Z"},
		"shorter":       {[]Point{{0, 1}, {0.5, 1}, {1, 1}}, []Point{{0, 0}, {0.5, 0}}, "M58.0 34.0L177.0 34.0L177.0 236.0L58.0 236.0Z"},
		"at one place":  {[]Point{{0.5, 1}}, []Point{{0.5, 0}}, "M174.5 34.0H179.5V236.0H174.5Z"},
		"no line":       {nil, []Point{{0.5, 0}}, ""},
		"elsewhere":     {[]Point{{0, 1}, {0.4, 1}}, []Point{{0.6, 0}, {1, 0}}, ""},
		"in between":    {[]Point{{0, 1}, {1, 1}}, []Point{{0.4, 0}, {0.6, 0}}, ""},
	} {
		f := Figure{Width: 380, Height: 280, X: Axis{Scale: Linear(0, 1)}, Y: Axis{Scale: Linear(0, 1)}}
		f.Lines = []Line{{Points: tt.line, Other: tt.other}}
		got := ""
		for _, a := range f.Draw().Areas {
			got += a.Path
		}
		same.As(t, name, tt.want, got)
	}
}

// A mark has a bar from its least to its greatest value, and none if it has neither.
func TestMarksHaveBars(t *testing.T) {
	f := Figure{Width: 342, Height: 178, X: Axis{Scale: Linear(0, 1)}, Y: Axis{Scale: Linear(0, 10)}, Lines: []Line{{
		Marks: []Mark{{Point: Point{X: 0, Y: 5}, Least: 4, Greatest: 8}, {Point: Point{X: 1, Y: 5}}},
	}}}
	d := f.Draw()
	same.As(t, "the bar", "M-4.0 -30.0H4.0M-4.0 10.0H4.0M0 -30.0V10.0", d.Marks[0].Bar)
	if d.Marks[1].Bar != "" {
		t.Errorf("a mark without ends has the bar %s", d.Marks[1].Bar)
	}
}
