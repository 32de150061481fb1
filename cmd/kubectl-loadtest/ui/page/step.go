package page

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/progress"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report/html"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/ui/runs"
	"github.com/loadtest-dev/loadtest-operator/measure/archive"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// requestRow is a request of a step.
type requestRow struct {
	Href, Name, Sent, Failed, Share, Why string
	failed                               int64
}

// requests are those of a step, in their order.
func (s Site) requests(key runs.Key, step int, r *v1beta1.StepResult) []requestRow {
	var list []requestRow
	for i := range r.Requests {
		of := &r.Requests[i]
		list = append(list, requestRow{
			Href: s.requestPath(key, step, i), Name: of.Name, Sent: fmt.Sprint(of.Sent), Failed: fmt.Sprint(of.Failed),
			Share: text.Percent(of.Failed, of.Sent-of.InFlight), Why: why(&of.Counts), failed: of.Failed,
		})
	}
	return list
}

// why are the classes of the failures of a request, in a line.
func why(c *v1beta1.Counts) string {
	var list []string
	for _, class := range report.Failures(c) {
		if class.Count > 0 {
			list = append(list, fmt.Sprintf("%s %d", class.Name, class.Count))
		}
	}
	return strings.Join(list, " · ")
}

// Step is the page of a step; nil: the run has none such.
func (s Site) Step(shown *Shown, index int) (*Page, error) {
	lt := shown.Test
	if index < 0 || index >= len(lt.Status.Steps) {
		return nil, nil
	}
	step := &lt.Status.Steps[index]
	p := &Page{Kicker: fmt.Sprintf("Step %d of %s in %s", index+1, lt.Name, lt.Namespace), Title: report.Title(step)}
	p.Actions = append(p.Actions, Link{"The whole run", s.RunPath(shown.key())})
	if index > 0 {
		p.Actions = append(p.Actions, Link{"Step before", s.stepPath(shown.key(), index-1)})
	}
	if index+1 < len(lt.Status.Steps) {
		p.Actions = append(p.Actions, Link{"Step after", s.stepPath(shown.key(), index+1)})
	}
	if !progress.Finished(lt) {
		p.Refresh = 2 * time.Second
	}
	state := string(report.ThresholdState(step))
	if state == "" {
		state = string(step.State)
	}
	var err error
	p.Parts, err = parts(announced("troubles", shown.Troubles), announced("state", state), of("facts", stepFacts(step)))
	if err != nil {
		return nil, err
	}
	only, archived := alone(lt, index, shown.Archived)
	links := html.Links{Request: func(_, request int) string { return s.requestPath(shown.key(), index, request) }}
	return s.withSections(p, only, archived, links, "thresholds", "requests", "errors", "latency", "overtime", "outcomes", "tables")
}

// withSections adds sections of the report of a run to a page.
func (s Site) withSections(p *Page, lt *v1beta1.LoadTest, archived []*archive.Step, links html.Links, names ...string) (*Page, error) {
	sections, err := s.linked(lt, archived, links)
	if err != nil {
		return nil, err
	}
	for _, section := range sections {
		if slices.Contains(names, section.Name) {
			p.Parts = append(p.Parts, section)
		}
	}
	return p, nil
}

// alone is a run that has this step and no other, so that its report is one of the step.
func alone(lt *v1beta1.LoadTest, index int, archived []*archive.Step) (*v1beta1.LoadTest, []*archive.Step) {
	step := lt.Status.Steps[index]
	only := &v1beta1.LoadTest{ObjectMeta: lt.ObjectMeta, Spec: lt.Spec}
	only.Status.Steps, only.Status.Workers = []v1beta1.StepStatus{step}, lt.Status.Workers
	for _, t := range lt.Status.Thresholds {
		if t.Step == step.Name {
			only.Status.Thresholds = append(only.Status.Thresholds, t)
		}
	}
	for _, a := range archived {
		if a.Index == index {
			first := *a
			first.Index = 0
			return only, []*archive.Step{&first}
		}
	}
	return only, nil
}

func stepFacts(step *v1beta1.StepStatus) []report.Fact {
	list := []report.Fact{{Name: "State", Text: string(step.State)}}
	add := func(name, value string) {
		if value != "" {
			list = append(list, report.Fact{Name: name, Text: value})
		}
	}
	add("What is missing", step.Message)
	if step.StartTime != nil {
		started := step.StartTime.UTC().Format(time.DateTime) + " UTC"
		if step.CompletionTime != nil {
			started += ", took " + text.Short(step.CompletionTime.Sub(step.StartTime.Time))
		}
		add("Started", started)
	}
	if step.Window != nil {
		add("Measured for", text.Short(step.Window.Duration))
	}
	if step.WorkersReporting > 0 {
		add("Workers", fmt.Sprintf("%d reported", step.WorkersReporting))
	}
	add("Coverage", step.Coverage)
	if r := step.Result; r != nil {
		add("Due, sent, failed", fmt.Sprintf("%d, %d, %d", r.Due, r.Sent, r.Failed))
		add("Goodput", text.Rate(r.Goodput))
		add("Outstanding", report.Outstanding(r.Outstanding))
		add("Down", report.Downtime(r))
		if g := r.Generator; g != nil {
			add("Generator", report.Healthy(g)+": "+strings.Join(report.Health(g), ", ")+".")
			add("What to change", g.Message)
		}
	}
	return list
}

// Request is the page of a request of a step; nil: the step has none such.
func (s Site) Request(shown *Shown, index, request int) (*Page, error) {
	lt := shown.Test
	if index < 0 || index >= len(lt.Status.Steps) || lt.Status.Steps[index].Result == nil {
		return nil, nil
	}
	step := lt.Status.Steps[index]
	if request < 0 || request >= len(step.Result.Requests) {
		return nil, nil
	}
	of := step.Result.Requests[request]
	p := &Page{Kicker: fmt.Sprintf("A request of step %s of %s in %s", step.Name, lt.Name, lt.Namespace), Title: of.Name}
	p.Actions = []Link{{"The step", s.stepPath(shown.key(), index)}, {"The whole run", s.RunPath(shown.key())}}
	var err error
	p.Parts, err = parts(announced("troubles", shown.Troubles), s.facts(&of))
	if err != nil {
		return nil, err
	}
	only, archived := alone(lt, index, shown.Archived)
	only.Status.Steps[0].Result = resultOf(step.Result, &of)
	only.Status.Thresholds, only.Status.Steps[0].ThresholdState = nil, ""
	for i, a := range archived {
		one := *a
		one.Series, one.Expected, one.Requests = nil, nil, slices.DeleteFunc(slices.Clone(a.Requests), func(r archive.Request) bool { return r.Name != of.Name })
		archived[i] = &one
	}
	return s.withSections(p, only, archived, html.Links{}, "errors", "latency", "outcomes", "tables")
}

func (s Site) facts(of *v1beta1.RequestResult) func() (Part, error) {
	list := []report.Fact{{Name: "Sent", Text: fmt.Sprint(of.Sent)}, {Name: "As expected", Text: fmt.Sprint(of.Expected)}, {Name: "Failed", Text: fmt.Sprint(of.Failed)}}
	if share := text.Percent(of.Failed, of.Sent-of.InFlight); share != "" {
		list[2].Text += " (" + share + ")"
	}
	if of.Redirects > 0 {
		list = append(list, report.Fact{Name: "Redirects followed", Text: fmt.Sprint(of.Redirects)})
	}
	if text := why(&of.Counts); text != "" {
		list = append(list, report.Fact{Name: "Failures", Text: text})
	}
	return func() (Part, error) { return part("facts", list) }
}

// resultOf is the result of a step as if it had sent this request alone.
func resultOf(r *v1beta1.StepResult, of *v1beta1.RequestResult) *v1beta1.StepResult {
	only := &v1beta1.StepResult{
		Counts: of.Counts, Due: of.Sent, ResponseTime: of.ResponseTime, WithoutGenerator: of.WithoutGenerator,
		Requests: []v1beta1.RequestResult{*of},
	}
	if of.Due != nil {
		only.Due = *of.Due
	}
	if r.Traces == nil {
		return only
	}
	others := func(t v1beta1.TracedRequest) bool { return t.Request != of.Name }
	only.Traces = &v1beta1.TraceResult{
		Sampled: r.Traces.Sampled, Slowest: slices.DeleteFunc(slices.Clone(r.Traces.Slowest), others), Failed: slices.DeleteFunc(slices.Clone(r.Traces.Failed), others),
	}
	return only
}
