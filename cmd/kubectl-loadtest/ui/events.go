package ui

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/ui/page"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/ui/runs"
)

const (
	// leastInterval is the least time between two updates of a page.
	leastInterval = time.Second
	// awaited is how long an answer waits for what will soon be there.
	awaited = 5 * time.Second
	// mostOpen is how many pages are told of changes at a time.
	mostOpen = 64
	// longestWrite is how long an update may take to be written: a browser that does not
	// read is given up.
	longestWrite = 20 * time.Second
)

// update is a part as a script gets it.
type update struct {
	Name   string `json:"name"`
	Digest string `json:"digest"`
	HTML   string `json:"html"`
}

// events tells an open page of the parts that have changed, until it is closed.
func (s *server) events(w http.ResponseWriter, r *http.Request) {
	at, err := url.Parse(r.URL.Query().Get("page"))
	if err != nil {
		http.Error(w, "page must be the path of one", http.StatusBadRequest)
		return
	}
	if !s.enter() {
		http.Error(w, "too many pages are open", http.StatusServiceUnavailable)
		return
	}
	defer s.leave()
	w.Header().Set("Content-Type", "text/event-stream")
	stream := &stream{w: w, control: http.NewResponseController(w), shown: digests(r.URL.Query().Get("have"))}
	changed, end := s.Runs.Subscribe()
	defer end()
	path := split(at.EscapedPath())
	about := runOf(path)
	for {
		version := s.Runs.Version(about) // before the page is written: what changes meanwhile is not missed
		p, failed := s.find(r.Context(), path, at.Query())
		if r.Context().Err() != nil {
			return
		}
		if failed != nil && failed.code != http.StatusBadGateway { // the page will not come back
			_ = stream.send("gone", failed.sentence) // the browser is gone, too
			return
		}
		if failed == nil {
			if err := stream.update(p); err != nil || p.Still {
				return
			}
		}
		if !s.untilAnother(r, stream, changed, p, func() bool { return failed != nil || s.Runs.Version(about) != version }) {
			return
		}
	}
}

// runOf is the run that a page is about; nil: it is about several, and changes with any.
func runOf(path []string) *runs.Key {
	if len(path) > 2 && path[0] == "run" {
		return &runs.Key{Namespace: path[1], Name: path[2]}
	}
	return nil
}

// untilAnother waits until a page has to be written anew. Meanwhile it tells the time, where that is
// all that changes. It returns false when the page is closed.
func (s *server) untilAnother(r *http.Request, stream *stream, changed <-chan struct{}, p *page.Page, isAnother func() bool) bool {
	for {
		due, open := waitForChange(r, changed, p)
		switch {
		case !open:
			return false
		case isAnother():
			return true
		case p.Tick != nil:
			part, err := p.Tick(s.Now())
			if err != nil || stream.update(&page.Page{Parts: []page.Part{part}}) != nil {
				return false
			}
		case due:
			return true
		}
	}
}

// waitForChange waits until something has changed or the page is due, and for the least interval.
// It returns false when the page is closed.
func waitForChange(r *http.Request, changed <-chan struct{}, p *page.Page) (isDue, open bool) {
	least := time.NewTimer(leastInterval)
	defer least.Stop()
	select {
	case <-r.Context().Done():
		return false, false
	case <-least.C:
	}
	const retry = 5 * time.Second // after a failure
	rest := retry
	if p != nil {
		rest = p.Refresh - leastInterval
	}
	var due <-chan time.Time
	if rest >= 0 {
		timer := time.NewTimer(rest)
		defer timer.Stop()
		due = timer.C
	}
	select {
	case <-r.Context().Done():
		return false, false
	case <-changed:
		return false, true
	case <-due:
		return true, true
	}
}

// digests reads the digest of each part that a page shows, by the name of the part.
func digests(have string) map[string]string {
	shown := map[string]string{}
	for part := range strings.SplitSeq(have, ",") {
		if name, digest, ok := strings.Cut(part, ":"); ok {
			shown[name] = digest
		}
	}
	return shown
}

// stream is an open page.
type stream struct {
	w       http.ResponseWriter
	control *http.ResponseController
	// shown are the digests of the parts that the page shows.
	shown map[string]string
}

// update sends the parts that are not as the page shows them.
func (s *stream) update(p *page.Page) error {
	for _, part := range p.Parts {
		digest := part.Digest()
		if s.shown[part.Name] == digest {
			continue
		}
		if err := s.send("part", update{part.Name, digest, string(part.HTML)}); err != nil {
			return err
		}
		s.shown[part.Name] = digest
	}
	return s.control.Flush()
}

func (s *stream) send(event string, data any) error {
	encoded, err := json.Marshal(data)
	if err != nil {
		return err
	}
	_ = s.control.SetWriteDeadline(time.Now().Add(longestWrite)) // not every writer has one
	if _, err := fmt.Fprintf(s.w, "event: %s\ndata: %s\n\n", event, encoded); err != nil {
		return err
	}
	return s.control.Flush()
}

func (s *server) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open >= mostOpen {
		return false
	}
	s.open++
	return true
}

func (s *server) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open--
}
