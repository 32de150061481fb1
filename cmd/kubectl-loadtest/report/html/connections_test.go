package html_test

import (
	"strings"
	"testing"

	"k8s.io/utils/ptr"
)

func TestNewConnectionsAreDrawnWhereTheyAreCounted(t *testing.T) {
	const title = "New connections over time"
	for name, row := range map[string]struct {
		counts []*int64 // of the points of 1 s, 1 s and half a second
		want   string   // empty: no figure
	}{
		"counted":                {[]*int64{ptr.To[int64](50), ptr.To[int64](0), ptr.To[int64](5)}, "new: 0 to 50"},
		"none":                   {[]*int64{ptr.To[int64](0), ptr.To[int64](0), ptr.To[int64](0)}, "new: 0"},
		"of an older worker":     {make([]*int64, 3), ""},
		"not known of one point": {[]*int64{ptr.To[int64](50), ptr.To[int64](10), nil}, "new: 10 to 50"},
	} {
		t.Run(name, func(t *testing.T) {
			lt, step := short(t)
			for i, n := range row.counts {
				step.Series.Points[i].FirstOnConnection = n
			}
			_, figure, drawn := strings.Cut(page(t, lt, step), title)
			if drawn != (row.want != "") {
				t.Fatalf("a figure of connections: %t", drawn)
			}
			figure, _, _ = strings.Cut(figure, "</svg>")
			if drawn && !strings.Contains(figure, "<title>"+row.want+"</title>") {
				t.Errorf("no line %q in %s", row.want, figure)
			}
		})
	}
}
