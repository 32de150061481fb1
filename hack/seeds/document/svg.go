package document

import (
	"bytes"
	_ "embed"
	"html/template"

	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report/plot"
)

//go:embed plot.svg
var frame string

// drawings writes a plot as the page of the plugin draws it, in a file with its style.
var drawings = template.Must(template.New("plot").Parse(frame + plot.Markup))

// The size of a plot, in units of the text's size.
const width, height = 880, 320

func svg(f figure) ([]byte, error) {
	f.Width, f.Height = width, height
	var out bytes.Buffer
	err := drawings.Execute(&out, struct {
		Title string
		*plot.Drawing
	}{f.title, f.Draw()})
	return out.Bytes(), err
}
