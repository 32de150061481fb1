package document

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"

	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report/plot"
)

//go:embed plot.svg
var frame string

// drawings writes a plot as the page of the plugin draws it, in a file with its style.
var drawings = template.Must(template.New("plot").Parse(frame + plot.Markup))

// The size of a plot, and above it the room for its title and its legend, in units of the
// text's size.
const width, height, above = 880, 320, 54

// colours are those of the lines, in order.
var colours = []string{"#2a5bd7", "#c2410c", "#18794e", "#8e4ec6", "#0e7490", "#a16207"}

type colour struct {
	Class  string
	Colour template.CSS
}

// class is the class of a line by its place.
func class(i int) string { return fmt.Sprintf("curve%d", i) }

func svg(f *figure) ([]byte, error) {
	f.Width, f.Height = width, height
	var palette []colour
	for i, c := range colours {
		palette = append(palette, colour{class(i), template.CSS(c)})
	}
	var out bytes.Buffer
	err := drawings.Execute(&out, map[string]any{
		"Title": f.title, "Crosses": f.crosses, "Colours": palette, "Width": width, "Height": height + above, "Above": above, "Drawing": f.Draw(),
	})
	return out.Bytes(), err
}
