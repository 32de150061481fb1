package html

import (
	"bytes"
	"fmt"
	"html/template"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/links"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report/plot"
	"github.com/loadtest-dev/loadtest-operator/measure/archive"
)

// Style is the style sheet of every page.
func Style() string { return style }

// Script shows values in the plots of a page, and zooms.
func Script() string { return script }

// Part is a section of a page that can stand in another one. It is empty where there is
// nothing to say.
type Part struct {
	Name string
	HTML template.HTML
}

// reportParts and comparedParts are the sections of the pages, in their order.
var (
	reportParts   = []string{"verdict", "keys", "facts", "contents", "attention", "environment", "thresholds", "load", "requests", "errors", "latency", "overtime", "outcomes", "tables", "conditions", "manifest"}
	comparedParts = []string{"warnings", "figures", "byrequest", "tests"}
)

// Links are where the rows of tables lead to: of a step by its index, of a request by the index of
// the step and its own in the step's result, of a load by the name of its LoadTest. Nil and "":
// nowhere.
type Links struct {
	Step    func(index int) string
	Request func(step, index int) string
	Load    func(test string) string
	// Templates are where the run and its traces lead to.
	Templates *links.Templates
}

// Parts are the sections of a report.
func Parts(lt *v1beta1.LoadTest, archived []*archive.Step, to Links) ([]Part, error) {
	v, err := viewOf(lt, archived, to)
	if err != nil {
		return nil, err
	}
	v.link(lt, to.Templates)
	for i := range lt.Status.Steps {
		if to.Step != nil && lt.Status.Steps[i].Result != nil {
			v.Rungs.Links = append(v.Rungs.Links, to.Step(i))
		}
	}
	return execute(reportParts, v)
}

// ComparedParts are the sections of the page of tests side by side.
func ComparedParts(c Compared) ([]Part, error) { return execute(comparedParts, comparisonOf(c)) }

// Plot is a plot in two shapes, for a wide page and for a phone.
type Plot struct {
	Title, Note, Spoken string
	Figure              plot.Figure
}

// Draw writes the plot.
func (p Plot) Draw() (template.HTML, error) {
	var b bytes.Buffer
	err := templates.ExecuteTemplate(&b, "figure", drawn(p.Title, p.Note, p.Spoken, p.Figure))
	return template.HTML(b.String()), err
}

// RateAxis is an axis of requests per second around values.
func RateAxis(values []float64) plot.Axis { return rateAxis(values) }

// TimeAxis is an axis of response times, in seconds, around values.
func TimeAxis(values []float64) plot.Axis { return timeAxis(values) }

// Time is a time as the pages write it.
func Time(d time.Duration) string { return spaced(d) }

// Sign writes the sign of a state, whose shape says what its colour says.
func Sign(state string) (template.HTML, error) {
	var b bytes.Buffer
	err := templates.ExecuteTemplate(&b, "sign", state)
	return template.HTML(b.String()), err
}

// Tone is the class of the style sheet that a state has.
func Tone(state string) string { return tone(state) }

func execute(names []string, data any) ([]Part, error) {
	parts := make([]Part, len(names))
	for i, name := range names {
		var b bytes.Buffer
		if err := templates.ExecuteTemplate(&b, "part-"+name, data); err != nil {
			return nil, fmt.Errorf("write section %s: %w", name, err)
		}
		parts[i] = Part{Name: name, HTML: template.HTML(bytes.TrimSpace(b.Bytes()))}
	}
	return parts, nil
}
