package page

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/progress"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report/html"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/ui/runs"
	"github.com/loadtest-dev/loadtest-operator/measure/archive"
)

// Shown is a run, and what is known of it.
type Shown struct {
	Test *v1beta1.LoadTest
	// Archived are the results of steps beyond their summary, as far as they can be read;
	// Notes say which cannot.
	Archived []*archive.Step
	Notes    []string
	// Course is what it did while it was followed.
	Course []runs.Moment
	// Runs are all runs, the newest first. Its trend shows the runs of its family.
	Runs     []*runs.Run
	Troubles []string
	Now      time.Time
}

func (s *Shown) key() runs.Key { return runs.Key{Namespace: s.Test.Namespace, Name: s.Test.Name} }

// Sections are the sections of the report of a run, with links from each step and request to its
// page.
// They depend on nothing but the run and its results.
func (s Site) Sections(lt *v1beta1.LoadTest, archived []*archive.Step) ([]Part, error) {
	key := runs.Key{Namespace: lt.Namespace, Name: lt.Name}
	return s.linked(lt, archived, html.Links{
		Step:    func(index int) string { return s.stepPath(key, index) },
		Request: func(step, index int) string { return s.requestPath(key, step, index) },
		Load:    func(test string) string { return s.RunPath(runs.Key{Namespace: lt.Namespace, Name: test}) },
	})
}

func (s Site) linked(lt *v1beta1.LoadTest, archived []*archive.Step, to html.Links) ([]Part, error) {
	to.Templates = s.Links
	sections, err := html.Parts(lt, archived, to)
	if err != nil {
		return nil, err
	}
	list := converted(sections)
	for i := range list {
		list[i].Announced = list[i].Name == "verdict" // the rest changes each second
	}
	return list, nil
}

// Run is the page of a run, with the sections of its report.
func (s Site) Run(shown *Shown, sections []Part) (*Page, error) {
	lt := shown.Test
	p := &Page{Kicker: "Load test in " + lt.Namespace, Title: lt.Name, Actions: s.actions(shown)}
	finished := progress.Finished(lt)
	if !finished {
		p.Refresh = time.Second
		p.Tick = func(now time.Time) (Part, error) { return part("clock", clockOf(lt, now)) }
	}
	before, err := parts(announced("troubles", shown.Troubles))
	if err != nil {
		return nil, err
	}
	now, err := s.liveParts(shown, finished)
	if err != nil {
		return nil, err
	}
	notes, err := parts(of("notes", shown.Notes))
	if err != nil {
		return nil, err
	}
	p.Parts = before
	for _, section := range sections {
		if section.Name == "keys" && !finished {
			section.HTML = "" // the live figures are of the same step
		}
		p.Parts = append(p.Parts, section)
		switch section.Name {
		case "verdict":
			p.Parts = append(p.Parts, now...)
		case "overtime":
			p.Parts = append(p.Parts, notes...)
		}
	}
	return p, nil
}

// actions are what can be done with a run.
func (s Site) actions(shown *Shown) []Link {
	key, finished := shown.key(), progress.Finished(shown.Test)
	var list []Link
	if !finished && !shown.Test.Spec.Terminate {
		list = append(list, Link{"Stop this run…", s.path("stop", key.Namespace, key.Name)})
	}
	if s.Cluster {
		list = append(list, Link{"Run again…", s.path("again", key.Namespace, key.Name)})
	}
	if owner := metav1.GetControllerOf(shown.Test); owner != nil && owner.Kind == "LoadTest" {
		list = append(list, Link{"Load of " + owner.Name, s.RunPath(runs.Key{Namespace: key.Namespace, Name: owner.Name})})
	}
	list = append(list, Link{"The report as one file", s.path("run", key.Namespace, key.Name, "report.html")})
	for _, l := range s.Links.Run(shown.Test, shown.Now) {
		list = append(list, Link{l.Text, l.Href})
	}
	run := runs.New(shown.Test)
	others := familiesOf(shown.Runs)[runs.Key{Namespace: key.Namespace, Name: run.Family}]
	if len(others) > 1 {
		list = append(list, Link{"History of " + run.Family, s.path("history", key.Namespace, run.Family)})
	}
	if before := lastBefore(others, shown.Test); finished && before != nil {
		list = append(list, Link{"Compare with " + before.Name, s.comparePath(before, run)})
	}
	return list
}

// lastBefore is the run of a family that ended before a run, and was the last to do so.
func lastBefore(family []*runs.Run, lt *v1beta1.LoadTest) *runs.Run {
	var last *runs.Run
	for _, r := range family {
		if r.UID == lt.UID {
			break
		}
		if r.Finished {
			last = r
		}
	}
	return last
}
