package ui

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/ui/page"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/ui/runs"
)

// question asks before a run is ended, all are, or one is run again.
func (s *server) question(path []string) (*page.Page, *problem) {
	key := runs.Key{}
	if len(path) == 3 {
		key = runs.Key{Namespace: path[1], Name: path[2]}
	}
	run := s.Runs.Run(key)
	name, back := key.Namespace+"/"+key.Name, s.site.RunPath(key)
	switch {
	case len(path) == 1 && path[0] == "stop" && s.Cluster:
		running := s.running()
		return s.made(s.site.Ask(page.Question{
			Title: "Stop all that run?", Yes: fmt.Sprintf("Stop %d", len(running)), Action: s.site.Base + "/stop", Back: s.site.Base + "/",
			Sentence: fmt.Sprintf("Not ended in %[2]s: %[1]d. Each ends within seconds, keeps what was measured, and has the verdict Canceled. Others can begin: kubectl loadtest stop --all lets none begin.", len(running), s.Scope),
		}))
	case len(path) == 3 && path[0] == "stop" && run != nil:
		return s.made(s.site.Ask(page.Question{
			Title: "Stop " + key.Name + "?", Yes: "Stop " + key.Name, Action: s.site.Base + "/stop" + tail(back, s.site), Back: back,
			Sentence: "LoadTest " + name + " ends within seconds, keeps what was measured, and has the verdict Canceled.",
		}))
	case len(path) == 3 && path[0] == "again" && run != nil && s.Cluster:
		return s.made(s.site.Ask(page.Question{
			Title: "Run " + key.Name + " again?", Yes: "Run again", Action: s.site.Base + "/again" + tail(back, s.site), Back: back,
			Sentence: "A new LoadTest with the spec and the labels of " + name + " is created, and sends its load at once. " + name + " stays, with its result.",
		}))
	}
	return nil, s.nothing()
}

// tail is the part of the path of a run that names it, escaped.
func tail(runPath string, site page.Site) string {
	return strings.TrimPrefix(runPath, site.Base+"/run")
}

// running are the runs that have not ended.
func (s *server) running() []runs.Key {
	var list []runs.Key
	all, _ := s.Runs.Runs()
	for _, r := range all {
		if !r.Finished {
			list = append(list, r.Key())
		}
	}
	return list
}

// write does what a question was about.
func (s *server) write(w http.ResponseWriter, r *http.Request, path string) {
	const most = 1 << 10 // the forms have no fields
	r.Body = http.MaxBytesReader(w, r.Body, most)
	to, failed := s.do(r.Context(), split(path))
	if failed != nil {
		s.writePage(w, failed.page, failed.code, path)
		return
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
}

// do returns where to go on.
func (s *server) do(ctx context.Context, path []string) (to string, failed *problem) {
	if len(path) == 1 && path[0] == "stop" && s.Cluster {
		if err := s.stopAll(ctx); err != nil {
			return "", s.failed("Not all runs end", err)
		}
		return s.site.Base + "/", nil
	}
	if len(path) != 3 {
		return "", s.nothing()
	}
	key := runs.Key{Namespace: path[1], Name: path[2]}
	if s.Runs.Run(key) == nil {
		return "", s.problem(http.StatusNotFound, "No such run", "Nothing was done: the run may have been deleted.")
	}
	switch {
	case path[0] == "stop":
		if err := s.Backend.Stop(ctx, key); err != nil {
			return "", s.failed("The run does not end", err)
		}
		return s.site.RunPath(key), nil
	case path[0] == "again" && s.Cluster:
		again, err := s.Backend.Again(ctx, key)
		if err != nil {
			return "", s.failed("The run does not begin", err)
		}
		s.await(ctx, func() bool { return s.Runs.Run(again) != nil }) // the next page is about it
		return s.site.RunPath(again), nil
	}
	return "", s.nothing()
}

// stopAll ends each run. One that was deleted meanwhile has ended, too.
func (s *server) stopAll(ctx context.Context) error {
	var errs []error
	for _, key := range s.running() {
		if err := s.Backend.Stop(ctx, key); err != nil && !apierrors.IsNotFound(err) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// await waits until something is so, for as long as a person would.
func (s *server) await(ctx context.Context, is func() bool) {
	ctx, cancel := context.WithTimeout(ctx, awaited)
	defer cancel()
	changed, end := s.Runs.Subscribe()
	defer end()
	for !is() {
		select {
		case <-ctx.Done():
			return
		case <-changed:
		}
	}
}
