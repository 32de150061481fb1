package html

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"html/template"
	"slices"
	"strings"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/links"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report/plot"
	"github.com/loadtest-dev/loadtest-operator/measure/archive"
	"github.com/loadtest-dev/loadtest-operator/text"
)

var (
	//go:embed *.html
	sources embed.FS
	//go:embed page.css
	style string
	//go:embed plots.js
	script string
)

var templates = template.Must(template.Must(template.New("").Funcs(template.FuncMap{"tone": tone}).ParseFS(sources, "*.html")).Parse(plot.Markup))

// head is the head of every page.
type head struct {
	Title  string
	Style  template.CSS
	Script template.JS
	// Policy lets this script run and no other.
	Policy string
}

func headOf(title string) head {
	sum := sha256.Sum256([]byte(script))
	return head{title, template.CSS(style), template.JS(script), "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-" +
		base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'"}
}

// view is what the template shows.
type view struct {
	Head head
	// Kicker stands above the name of the LoadTest, whose heading has the ID; "": links do not lead to it.
	Kicker, Name, ID string
	// Prefix begins the ids of its sections: a page may have several LoadTests.
	Prefix          string
	State, Sentence string
	Worst           string
	Facts           []report.Fact
	Contents        []entry
	Keys            []key
	Attention       []report.Notice
	Environment     []report.Fact
	Figures         []figure
	Rungs           table
	Tails           []figure
	Quantiles       table
	Expected        table
	OverTime        []figure
	OverTimeNote    string
	Seconds         table
	Outcomes        []outcome
	Failures        table
	Thresholds      []threshold
	ThresholdNote   string
	Requests        group
	Errors          group
	Groups          []group
	Conditions      table
	Manifest        string
	// Links lead to what else is known of the run.
	Links []links.Link
	// Loads are the reports of the LoadTests of its loads, in their order.
	Loads []*view
}

// key is a figure that is read first.
type key struct{ Name, Value, Unit, Note string }

type threshold struct{ State, Name, Step, Observed, Limit, Message string }

// table has words in its first columns, and figures in the others.
type table struct {
	Title, Note string
	Heads       []string
	Words       int
	Rows        [][]string
	// Marked says of each row whether it stands out; nil: none does.
	Marked []bool
	// Links are where the first cell of each row leads to; nil: nowhere.
	Links []string
	// Tones are the classes of cells; nil: none has any.
	Tones [][]string
	// traced are the addresses of traces, by the cells that have their ids; nil: there are none.
	traced map[string]string
}

// Tone is the class of a cell, behind a space; "": none.
func (t table) Tone(row, column int) string {
	if row >= len(t.Tones) || column >= len(t.Tones[row]) || t.Tones[row][column] == "" {
		return ""
	}
	return " " + t.Tones[row][column]
}

// Link is where a row leads to; "": nowhere.
func (t table) Link(row int) string {
	if row >= len(t.Links) {
		return ""
	}
	return t.Links[row]
}

// IsMarked says whether a row stands out.
func (t table) IsMarked(row int) bool { return row < len(t.Marked) && t.Marked[row] }

// Prose is the number of the column that has sentences: the last of the words, where
// they are more than names.
func (t table) Prose() int {
	if t.Words > 2 || t.Words == len(t.Heads) {
		return t.Words - 1
	}
	return -1
}

// Report is the report of a LoadTest, with plots over time of the steps whose results
// beyond their summary are given. The reports of the LoadTests of its loads stand below it.
func Report(lt *v1beta1.LoadTest, archived []*archive.Step, loads ...*v1beta1.LoadTest) ([]byte, error) {
	return Linked(nil)(lt, archived, loads...)
}

func linkedReport(lt *v1beta1.LoadTest, archived []*archive.Step, loads []*v1beta1.LoadTest, to *links.Templates) ([]byte, error) {
	v, err := viewOf(lt, archived, Links{Load: anchors(lt, loads)})
	if err != nil {
		return nil, err
	}
	v.link(lt, to)
	if err := v.addLoads(lt, archived, loads, to); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = templates.ExecuteTemplate(&b, "page.html", v)
	return b.Bytes(), err
}

func viewOf(lt *v1beta1.LoadTest, archived []*archive.Step, links Links) (*view, error) {
	s := &lt.Status
	text, err := manifest(lt)
	if err != nil {
		return nil, err
	}
	v := &view{
		Head:   headOf(lt.Name + ": " + state(s)),
		Kicker: kicker(lt), Name: lt.Name,
		State: state(s), Worst: report.Worst(s), Sentence: report.Judgement(s),
		Facts: facts(lt), Keys: keys(s), Attention: report.Attention(s), Environment: report.Environment(s),
		Figures: ladder(s), Rungs: rungs(s),
		Tails: tails(s.Steps, archived), Quantiles: quantiles("Response time by step", s.Steps, ofAll, ofAllWithout),
		Expected: quantiles("Response time of expected responses", s.Steps, ofExpected, ofExpectedWithout),
		Seconds:  seconds(s, archived),
		Outcomes: outcomes(s.Steps), Failures: failures(s.Steps),
		Thresholds: thresholds(s), ThresholdNote: inParentheses(report.AnyObservedTwice(s.Thresholds)),
		Requests: grouped("requests", "Requests", requests(s.Steps, links.Request), types(s.Steps), streams(s.Steps), journeys(s.Steps), replayed(s.Steps), codes(s.Steps)),
		Errors:   grouped("errors", "Errors", failed(s.Steps)),
		Groups: []group{
			grouped("loads", "Loads", sideBySide(s, links.Load)), grouped("sides", "Both targets", sides(lt)), grouped("audits", "Audits", stored(s), audits(lt)),
			grouped("outstanding", "Outstanding requests and downtime", course(s.Steps)), grouped("spread", "Spread over repetitions", spread(lt)),
			grouped("usage", "What the target used", usage(s), queries(s)),
			grouped("traces", "Traces", traces(s.Steps), tracesByRequest(s, archived)),
			grouped("generator", "Generator", generator(s.Steps), handshakes(s.Steps)),
		},
		Conditions: conditions(s),
		Manifest:   text,
	}
	v.OverTime, v.OverTimeNote = overTime(s, archived)
	explainOnce(v.Figures, v.Tails)
	v.Contents = contents(v)
	return v, nil
}

func kicker(lt *v1beta1.LoadTest) string {
	if lt.Namespace == "" {
		return "Load test"
	}
	return "Load test in " + lt.Namespace
}

// explainOnce leaves the legend of bands to the first figure that has any.
func explainOnce(lists ...[]figure) {
	explained := false
	for _, list := range lists {
		for i := range list {
			list[i].Band, explained = list[i].Band && !explained, explained || list[i].Band
		}
	}
}

// group are tables under a heading, which leads to them.
type group struct {
	ID, Title string
	Tables    []table
}

// grouped leaves out tables without a row.
func grouped(id, title string, tables ...table) group {
	return group{id, title, slices.DeleteFunc(tables, func(t table) bool { return len(t.Rows) == 0 })}
}

// entry is a line of the contents.
type entry struct{ ID, Title string }

// contents are the sections of a page that have something to say.
func contents(v *view) (list []entry) {
	add := func(some bool, id, title string) {
		if some {
			list = append(list, entry{id, title})
		}
	}
	add(len(v.Attention) > 0, "attention", "Attention")
	add(len(v.Environment) > 0, "environment", "Environment")
	add(len(v.Thresholds) > 0, "thresholds", "Thresholds")
	add(len(v.Rungs.Rows) > 0, "load", "Load")
	for _, g := range []group{v.Requests, v.Errors} {
		add(len(g.Tables) > 0, g.ID, g.Title)
	}
	add(len(v.Quantiles.Rows) > 0, "latency", "Latency")
	add(len(v.OverTime) > 0, "overtime", "Over time")
	add(len(v.Outcomes) > 0, "outcomes", "Outcomes")
	for _, g := range v.Groups {
		add(len(g.Tables) > 0, g.ID, g.Title)
	}
	add(len(v.Conditions.Rows) > 0, "conditions", "Conditions")
	add(true, "manifest", "Manifest")
	return list
}

// state is the verdict or, as long as there is none, where the run stands.
func state(s *v1beta1.LoadTestStatus) string {
	if s.Verdict != "" {
		return string(s.Verdict)
	}
	if s.Phase == "" {
		return string(v1beta1.PhasePending)
	}
	return string(s.Phase)
}

// facts are those that no key says.
func facts(lt *v1beta1.LoadTest) []report.Fact {
	return slices.DeleteFunc(report.Facts(lt), func(f report.Fact) bool { return f.Name == report.Kept && report.Telling(&lt.Status) != nil })
}

// tone is the class that colours a state: one of four, whatever the state is.
func tone(state string) string {
	switch state {
	case "Passed", "Healthy", "True":
		return "good"
	case "Failed", "Error":
		return "bad"
	case "Inconclusive", "Canceled", "Suspended":
		return "unsure"
	}
	return "plain"
}

// keys are the figures of the step that says most: the highest one that was
// sustained or, where none was, the last one that was measured.
func keys(s *v1beta1.LoadTestStatus) []key {
	step := report.Telling(s)
	if step == nil {
		return nil
	}
	r, in := step.Result, "in step "+shortened(step.Name, 24)
	var list []key
	if s.MaxSustainedUsers != nil {
		list = append(list, key{"Kept", count(int64(*s.MaxSustainedUsers)), "users", keptFor(s)})
	}
	if s.MaxSustainedRate != "" {
		unit := "/s"
		if report.OfSessions(s) {
			unit = "sessions/s"
		}
		list = append(list, key{"Kept", s.MaxSustainedRate, unit, keptFor(s)})
	}
	if rate, ok := strings.CutSuffix(text.Rate(r.Goodput), "/s"); ok {
		list = append(list, key{"Goodput", rate, "/s", in})
	}
	if r.ResponseTime != nil && r.ResponseTime.P95 != nil {
		value, unit := units(r.ResponseTime.P95.Duration)
		note := in
		if b := (report.Bracket{Time: r.ResponseTime.P95, Without: cmp.Or(r.WithoutGenerator, r.ResponseTime).P95}); b.IsVisible() {
			note = spaced(b.Without.Duration) + " without the generator's own delay, " + in
		}
		list = append(list, key{"Response time, p95", value, unit, note})
	}
	if failed := text.Percent(r.Failed-r.Undecided, r.Sent-r.InFlight); failed != "" {
		list = append(list, key{"Failed", failed, "", "of " + count(r.Sent-r.InFlight) + " sent"})
	}
	unsent, due := r.Offered()
	if share := text.Percent(unsent, due); share != "" {
		list = append(list, key{"Never sent", share, "", "of " + count(due) + " due"})
	}
	if down := report.Downtime(r); down != "" {
		list = append(list, key{"Down", down, "", "of the time " + in})
	}
	return list
}

// keptFor says for how long the load of a key kept its thresholds.
func keptFor(s *v1beta1.LoadTestStatus) string {
	if d := report.KeptFor(s); d > 0 {
		return "every threshold, for " + text.Whole(d)
	}
	return "every threshold"
}

func thresholds(s *v1beta1.LoadTestStatus) []threshold {
	list, messages := s.Thresholds, report.ThresholdResults(s)
	rows := make([]threshold, len(list))
	for i := range list {
		t := &list[i]
		rows[i] = threshold{string(t.State), report.ThresholdName(t), t.Step, report.Observed(t), t.Limit, messages[i]}
	}
	return rows
}
