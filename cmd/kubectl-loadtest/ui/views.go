package ui

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/progress"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/ui/page"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/ui/runs"
	"github.com/loadtest-dev/loadtest-operator/measure/archive"
)

// mostCompared is how many runs a page puts side by side.
const mostCompared = 10

// problem is a page that says what could not be shown, and the code of the answer.
type problem struct {
	page *page.Page
	code int
	// sentence is what the page says.
	sentence string
}

// problem writes the page of what could not be shown or done.
func (s *server) problem(code int, title, sentence string) *problem {
	p, err := s.site.Problem(title, sentence)
	if err != nil {
		p = &page.Page{Title: title, Still: true}
	}
	return &problem{p, code, sentence}
}

// failed is about an error of the backend.
func (s *server) failed(title string, err error) *problem {
	code := http.StatusBadGateway
	switch {
	case apierrors.IsNotFound(err):
		code = http.StatusNotFound
	case apierrors.IsForbidden(err), apierrors.IsUnauthorized(err):
		code = http.StatusForbidden
	}
	if s.Explain != nil {
		err = s.Explain(err)
	}
	return s.problem(code, title, err.Error())
}

// view is the page of a path, and the code of the answer.
func (s *server) view(ctx context.Context, path string, query url.Values) (*page.Page, int) {
	p, failed := s.find(ctx, split(path), query)
	if failed != nil {
		return failed.page, failed.code
	}
	return p, http.StatusOK
}

// split are the segments of a path; nil: it is not a valid one.
func split(path string) []string {
	segments := strings.Split(strings.Trim(path, "/"), "/")
	for i, segment := range segments {
		plain, err := url.PathUnescape(segment)
		if err != nil {
			return nil
		}
		segments[i] = plain
	}
	return segments
}

// find is the page of the segments of a path.
func (s *server) find(ctx context.Context, path []string, query url.Values) (*page.Page, *problem) {
	kind, rest := "", []string(nil)
	if len(path) > 0 {
		kind, rest = path[0], path[1:]
	}
	switch {
	case kind == "" && len(path) == 1:
		return s.made(s.site.List(s.known(), query))
	case kind == "run" && len(rest) > 1:
		return s.ofRun(ctx, runs.Key{Namespace: rest[0], Name: rest[1]}, rest[2:])
	case kind == "history" && len(rest) == 2:
		key := runs.Key{Namespace: rest[0], Name: rest[1]}
		return s.made(s.site.History(s.known(), key, s.Runs.Schedule(key)))
	case kind == "compare" && len(rest) == 0:
		return s.compare(ctx, query["run"])
	}
	return s.question(path)
}

// ofRun is the page of a run, or the one below it: step/N, step/N/request/M.
func (s *server) ofRun(ctx context.Context, key runs.Key, below []string) (*page.Page, *problem) {
	switch {
	case len(below) == 0:
		return s.run(ctx, key)
	case len(below) == 2 && below[0] == "step":
		return s.part(ctx, key, func(shown *page.Shown) (*page.Page, error) { return s.site.Step(shown, index(below[1])) })
	case len(below) == 4 && below[0] == "step" && below[2] == "request":
		return s.part(ctx, key, func(shown *page.Shown) (*page.Page, error) {
			return s.site.Request(shown, index(below[1]), index(below[3]))
		})
	}
	return nil, s.nothing()
}

// index is a number of a path; -1: it is not one.
func index(segment string) int {
	n, err := strconv.Atoi(segment)
	if err != nil {
		return -1
	}
	return n
}

// made is a page, or the problem that there is none.
func (s *server) made(p *page.Page, err error) (*page.Page, *problem) {
	switch {
	case err != nil:
		return nil, s.problem(http.StatusInternalServerError, "The page cannot be written", err.Error())
	case p == nil:
		return nil, s.nothing()
	}
	return p, nil
}

func (s *server) nothing() *problem {
	return s.problem(http.StatusNotFound, "Nothing is here", "The list of all load tests has what there is.")
}

// known is what is known of all runs.
func (s *server) known() page.Known {
	list, loaded := s.Runs.Runs()
	return page.Known{Runs: list, Loaded: loaded, Schedules: s.Runs.Schedules(), Troubles: s.Runs.Troubles(), Now: s.Now()}
}

// test is a LoadTest, whole.
func (s *server) test(ctx context.Context, key runs.Key) (*v1beta1.LoadTest, *problem) {
	s.await(ctx, func() bool { // at the start, the list may not be there yet
		_, loaded := s.Runs.Runs()
		return loaded || s.Runs.Run(key) != nil || len(s.Runs.Troubles()) > 0
	})
	if s.Runs.Run(key) == nil {
		if _, loaded := s.Runs.Runs(); !loaded && len(s.Runs.Troubles()) > 0 {
			return nil, s.problem(http.StatusBadGateway, "The runs cannot be read", strings.Join(s.Runs.Troubles(), " "))
		}
		return nil, s.problem(http.StatusNotFound, "No such run", fmt.Sprintf("There is no LoadTest %s/%s among those of %s. It may have been deleted.", key.Namespace, key.Name, s.Scope))
	}
	if lt := s.Runs.Want(key); lt != nil {
		return lt, nil
	}
	lt, err := s.Backend.Open(ctx, key)
	if err != nil {
		return nil, s.failed("The run cannot be read", err)
	}
	return s.Runs.Read(lt), nil
}

// sections are what the report of a run says, and what was missing.
type sections struct {
	parts    []page.Part
	archived []*archive.Step
	notes    []string
}

// report has the sections of a report. They are written once for each update of the run, unless
// something was missing: all open pages share them.
func (s *server) report(ctx context.Context, lt *v1beta1.LoadTest) (*sections, error) {
	s.mu.Lock()
	found, ok := s.reports.Get(lt)
	s.mu.Unlock()
	if ok {
		return found, nil
	}
	archived, notes := s.Backend.Results(ctx, lt)
	parts, err := s.site.Sections(lt, archived)
	if err != nil {
		return nil, err
	}
	found = &sections{parts, archived, notes}
	if len(notes) > 0 {
		return found, nil // what could not be read may be there the next time: a run that has finished changes no more
	}
	s.mu.Lock()
	s.reports.Add(lt, found)
	s.mu.Unlock()
	return found, nil
}

// shown is a run with what is known of it, and the sections of its report.
func (s *server) shown(ctx context.Context, key runs.Key) (*page.Shown, *sections, *problem) {
	lt, failed := s.test(ctx, key)
	if failed != nil {
		return nil, nil, failed
	}
	report, err := s.report(ctx, lt)
	if err != nil {
		return nil, nil, s.problem(http.StatusInternalServerError, "The report cannot be written", err.Error())
	}
	list, _ := s.Runs.Runs()
	return &page.Shown{
		Test: lt, Archived: report.archived, Notes: report.notes, Course: s.Runs.Course(key), Runs: list, Troubles: s.Runs.Troubles(), Now: s.Now(),
	}, report, nil
}

func (s *server) run(ctx context.Context, key runs.Key) (*page.Page, *problem) {
	shown, report, failed := s.shown(ctx, key)
	if failed != nil {
		return nil, failed
	}
	return s.made(s.site.Run(shown, report.parts))
}

// part is a page about a part of a run.
func (s *server) part(ctx context.Context, key runs.Key, write func(*page.Shown) (*page.Page, error)) (*page.Page, *problem) {
	shown, _, failed := s.shown(ctx, key)
	if failed != nil {
		return nil, failed
	}
	return s.made(write(shown))
}

// compare puts runs side by side, the oldest first.
func (s *server) compare(ctx context.Context, names []string) (*page.Page, *problem) {
	const title = "Nothing to compare"
	names = slices.Compact(slices.Sorted(slices.Values(names))) // a run is not compared with itself
	if len(names) < 2 || len(names) > mostCompared {
		return nil, s.problem(http.StatusBadRequest, title, fmt.Sprintf("Mark from 2 to %d runs in the list. The others are compared with the oldest.", mostCompared))
	}
	var tests []*v1beta1.LoadTest
	for _, name := range names {
		namespace, name, _ := strings.Cut(name, "/")
		lt, failed := s.test(ctx, runs.Key{Namespace: namespace, Name: name})
		if failed != nil {
			return nil, failed
		}
		if !progress.Finished(lt) {
			return nil, s.problem(http.StatusConflict, title, fmt.Sprintf("LoadTest %s has not finished.", lt.Name))
		}
		if loads := report.LoadTests(&lt.Status); len(loads) > 0 {
			return nil, s.problem(http.StatusConflict, title, fmt.Sprintf("LoadTest %s sends several loads, and each has steps of its own: mark the LoadTests of its loads, such as %s.", lt.Name, loads[0]))
		}
		tests = append(tests, lt)
	}
	slices.SortStableFunc(tests, func(a, b *v1beta1.LoadTest) int { return runs.Newer(runs.New(b), runs.New(a)) })
	return s.made(s.site.Compare(tests))
}
