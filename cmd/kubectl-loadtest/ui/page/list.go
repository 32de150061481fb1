package page

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report/html"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/ui/runs"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// Known is what is known of all runs.
type Known struct {
	// Runs have the newest first. Loaded says that all were listed once.
	Runs      []*runs.Run
	Loaded    bool
	Schedules []*v1beta1.LoadTestSchedule
	// Troubles are sentences about what is not up to date.
	Troubles []string
	Now      time.Time
}

// perPage is how many runs that ended a page shows.
const perPage = 50

// row is a run in a table.
type row struct {
	*runs.Run
	Href, Value string
	State       string
	Late, Age   string
	// Note is what a person should know of it.
	Note  string
	Trend *spark
	// Family is where the runs of its kind are.
	Family string
}

// table is runs below each other.
type table struct {
	Base, Title string
	Empty       string
	Rows        []row
	// Namespaced says that the runs are of several namespaces.
	Namespaced bool
	// Chosen says that rows can be marked for a comparison.
	Chosen bool
	// Older and Newer are the pages beside this one; "": there are none.
	Older, Newer, Place string
}

// filter is what the form above the list says.
type filter struct {
	Base, Text, State string
	States            []string
}

// live and ended are states of the filter beside the phases and verdicts.
const live, ended = "not ended", "ended"

func filterOf(base string, query url.Values) filter {
	f := filter{Base: base, Text: text.Clean(query.Get("text"), 100), State: query.Get("state"), States: []string{live, ended}}
	for _, v := range v1beta1.Verdicts() {
		f.States = append(f.States, string(v))
	}
	if !slices.Contains(f.States, f.State) {
		f.State = ""
	}
	return f
}

// takes says whether a run is shown.
func (f filter) takes(r *runs.Run) bool {
	return f.inState(r) && f.named(r.Name, r.Namespace, r.Target, r.Schedule)
}

// inState says whether a run is in the state of the filter.
func (f filter) inState(r *runs.Run) bool {
	switch f.State {
	case live:
		return !r.Finished
	case ended:
		return r.Finished
	case "":
		return true
	}
	return r.Verdict == f.State
}

// named says whether one of the texts has the text of the filter.
func (f filter) named(texts ...string) bool {
	return slices.ContainsFunc(texts, func(s string) bool { return strings.Contains(strings.ToLower(s), strings.ToLower(f.Text)) })
}

// query is that of a page with this filter.
func (f filter) query(page int) string {
	values := url.Values{}
	for name, value := range map[string]string{"text": f.Text, "state": f.State} {
		if value != "" {
			values.Set(name, value)
		}
	}
	if page > 1 {
		values.Set("page", strconv.Itoa(page))
	}
	if len(values) == 0 {
		return ""
	}
	return "?" + values.Encode()
}

// List is the page of all runs.
func (s Site) List(k Known, query url.Values) (*Page, error) {
	f, all := filterOf(s.Base, query), familiesOf(k.Runs)
	running := table{Title: "Now", Empty: "Nothing runs.", Namespaced: s.isNamespaced(k)}
	over := table{Base: s.Base, Title: "Ended", Empty: "No run has ended.", Namespaced: running.Namespaced, Chosen: true}
	if !k.Loaded {
		running.Empty, over.Empty = "The runs are being read.", "The runs are being read."
	} else if f.Text != "" || f.State != "" {
		running.Empty, over.Empty = "No run matches.", "No run matches."
	}
	var done []*runs.Run
	for _, r := range k.Runs {
		switch {
		case !f.takes(r):
		case r.Finished:
			done = append(done, r)
		default:
			running.Rows = append(running.Rows, s.row(r, all, k.Now))
		}
	}
	number, _ := strconv.Atoi(query.Get("page"))
	pages := max(1, (len(done)+perPage-1)/perPage)
	number = min(max(number, 1), pages)
	first := (number - 1) * perPage
	for _, r := range done[first:min(first+perPage, len(done))] {
		over.Rows = append(over.Rows, s.row(r, all, k.Now))
	}
	if pages > 1 {
		over.Place = fmt.Sprintf("%d to %d of %d", first+1, first+len(over.Rows), len(done))
	}
	if number > 1 {
		over.Newer = s.Base + "/" + f.query(number-1)
	}
	if number < pages {
		over.Older = s.Base + "/" + f.query(number+1)
	}
	p := &Page{Kicker: "Load tests of " + s.Scope, Title: "Load tests", Refresh: 10 * time.Second}
	if s.Cluster {
		p.Actions = []Link{{"Stop all that run…", s.path("stop")}}
	}
	var err error
	p.Parts, err = parts(announced("troubles", k.Troubles), announced("counts", countsOf(k)), of("filter", f), of("now", running), of("ended", over), of("schedules", s.schedules(k, f)))
	return p, err
}

// isNamespaced says whether runs are of several namespaces.
func (s Site) isNamespaced(k Known) bool {
	return slices.ContainsFunc(k.Runs, func(r *runs.Run) bool { return r.Namespace != k.Runs[0].Namespace })
}

// countsOf says how many runs there are, in a sentence.
func countsOf(k Known) string {
	running := 0
	for _, r := range k.Runs {
		if !r.Finished {
			running++
		}
	}
	return fmt.Sprintf("%s, %d not ended.", text.Plural(int64(len(k.Runs)), "run"), running)
}

func (s Site) row(r *runs.Run, all families, now time.Time) row {
	line := row{
		Run: r, Href: s.RunPath(r.Key()), Value: r.Namespace + "/" + r.Name, State: cmp.Or(r.Verdict, r.Phase),
		Age: duration.HumanDuration(now.Sub(r.Created)), Note: text.Clean(r.Attention, 140), Trend: all.upTo(r), Late: r.P95,
	}
	if r.Finished && r.Late > 0 {
		line.Late = html.Time(r.Late)
	}
	if len(all[runs.Key{Namespace: r.Namespace, Name: r.Family}]) > 1 {
		line.Family = s.path("history", r.Namespace, r.Family)
	}
	return line
}

// scheduleRow is a schedule in a table.
type scheduleRow struct {
	Namespace, Name, Href, By, Verdict, Trend, Next string
}

// schedules are those that match a text.
func (s Site) schedules(k Known, f filter) []scheduleRow {
	var rows []scheduleRow
	for _, o := range k.Schedules {
		if !f.named(o.Name, o.Namespace) {
			continue
		}
		sum := o.Status.Summary
		rows = append(rows, scheduleRow{o.Namespace, o.Name, s.path("history", o.Namespace, o.Name), sum.Schedule, sum.Verdict, sum.Trend, sum.Next})
	}
	return rows
}
