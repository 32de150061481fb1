package page

import (
	"fmt"
	"slices"
	"strings"

	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report/html"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/ui/runs"
)

// families are the runs by namespace and family, the oldest first.
type families map[runs.Key][]*runs.Run

// familiesOf takes runs, the newest first.
func familiesOf(list []*runs.Run) families {
	all := families{}
	for _, r := range list {
		key := runs.Key{Namespace: r.Namespace, Name: r.Family}
		all[key] = append(all[key], r)
	}
	for _, of := range all {
		slices.Reverse(of)
	}
	return all
}

// spark is a small plot of what a run and those before it sustained or, where nothing was, of
// their p95.
type spark struct {
	Points, X, Y, Spoken string
}

// mostSparks is how many runs a small plot has, sparkWidth and sparkHeight its size.
const mostSparks, sparkWidth, sparkHeight = 12, 72.0, 20.0

// upTo draws the trend up to a run; nil: there are not two values.
func (f families) upTo(r *runs.Run) *spark {
	family := f[runs.Key{Namespace: r.Namespace, Name: r.Family}]
	at := slices.Index(family, r)
	if at < 0 {
		return nil
	}
	value, what, unit := func(o *runs.Run) (float64, string) { return o.Load, fmt.Sprintf("%g", o.Load) }, "sustained", r.Unit
	if r.Load == 0 {
		value, what, unit = func(o *runs.Run) (float64, string) { return o.Late.Seconds(), html.Time(o.Late) }, "p95", ""
	}
	var values []float64
	var said []string
	for _, o := range slices.Backward(family[:at+1]) {
		if v, written := value(o); v > 0 && (unit == "" || o.Unit == unit) {
			values, said = append(values, v), append(said, written)
		}
		if len(values) == mostSparks {
			break
		}
	}
	if len(values) < 2 {
		return nil
	}
	slices.Reverse(values)
	slices.Reverse(said)
	return drawSpark(values, strings.TrimSpace(fmt.Sprintf("%s of the last %d runs: %s %s", what, len(values), strings.Join(said, ", "), unit)))
}

func drawSpark(values []float64, spoken string) *spark {
	const edge = 3.0
	low, high := slices.Min(values), slices.Max(values)
	s := &spark{Spoken: spoken}
	var points []string
	for i, v := range values {
		x := edge + (sparkWidth-2*edge)*float64(i)/float64(len(values)-1)
		y := sparkHeight / 2
		if high > low {
			y = sparkHeight - edge - (sparkHeight-2*edge)*(v-low)/(high-low)
		}
		s.X, s.Y = fmt.Sprintf("%.1f", x), fmt.Sprintf("%.1f", y)
		points = append(points, s.X+","+s.Y)
	}
	s.Points = strings.Join(points, " ")
	return s
}
