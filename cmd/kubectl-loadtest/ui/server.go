package ui

import (
	"bytes"
	"context"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/links"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/ui/page"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/ui/runs"
	"github.com/loadtest-dev/loadtest-operator/measure/archive"
)

// Backend is what the pages read and do beside what the collection has.
type Backend interface {
	// Open reads a LoadTest whole.
	Open(ctx context.Context, key runs.Key) (*v1beta1.LoadTest, error)
	// Results are those of the steps of a LoadTest beyond their summary, and sentences about
	// those that cannot be read.
	Results(ctx context.Context, lt *v1beta1.LoadTest) ([]*archive.Step, []string)
	// Stop ends a LoadTest, which keeps what it measured.
	Stop(ctx context.Context, key runs.Key) error
	// Again runs a LoadTest once more, and returns the new one.
	Again(ctx context.Context, key runs.Key) (runs.Key, error)
}

// Config is what the pages are about.
type Config struct {
	Runs    *runs.Collection
	Backend Backend
	// Scope says of which runs the pages are, and Cluster that they are in a cluster.
	Scope   string
	Cluster bool
	// Report writes the report of a run as one file, with the reports of its loads.
	Report func(*v1beta1.LoadTest, []*archive.Step, ...*v1beta1.LoadTest) ([]byte, error)
	// Links lead from runs and traces to what else is known of them; nil: nowhere.
	Links *links.Templates
	// Explain adds a way out to an error. Optional.
	Explain func(error) error
	// Now is the time.
	Now func() time.Time
}

// mostReports is how many reports are kept that are not written anew while their run is the
// same.
const mostReports = 32

// server writes the pages.
type server struct {
	Config
	site page.Site

	mu sync.Mutex
	// reports are the sections of reports, by the LoadTest that they are of.
	reports *simplelru.LRU[*v1beta1.LoadTest, *sections]
	// open is how many pages are told of changes.
	open int
}

// New is the handler of all requests. It lets through who calls it by one of the hosts and
// knows the secret.
func New(c Config, secret string, hosts ...string) http.Handler {
	reports, _ := simplelru.NewLRU[*v1beta1.LoadTest, *sections](mostReports, nil) // the error is of a size below 1
	s := &server{Config: c, site: page.Site{Base: "/" + secret, Scope: c.Scope, Cluster: c.Cluster, Links: c.Links}, reports: reports}
	return &guard{secret: secret, hosts: hosts, next: s}
}

// ServeHTTP answers a request that the guard has let through. Its RawPath is the path behind
// the secret.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := r.URL.RawPath
	switch {
	case r.Method == http.MethodPost:
		s.write(w, r, path)
	case path == "/style.css":
		asset(w, "text/css; charset=utf-8", page.Style())
	case path == "/icon.svg":
		asset(w, "image/svg+xml", page.Icon())
	case path == "/events":
		s.events(w, r)
	case strings.HasPrefix(path, "/run/") && strings.HasSuffix(path, "/report.html"):
		s.export(w, r, path)
	default:
		s.show(w, r, path)
	}
}

func asset(w http.ResponseWriter, kind string, data []byte) {
	w.Header().Set("Content-Type", kind)
	_, _ = w.Write(data) // the browser is gone
}

// show writes the page of a path.
func (s *server) show(w http.ResponseWriter, r *http.Request, path string) {
	p, code := s.view(r.Context(), path, r.URL.Query())
	s.writePage(w, p, code, withQuery(path, r.URL.Query()))
}

func (s *server) writePage(w http.ResponseWriter, p *page.Page, code int, path string) {
	var b bytes.Buffer
	if err := s.site.Write(&b, p, path); err != nil {
		http.Error(w, "the page cannot be written: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(code)
	_, _ = w.Write(b.Bytes()) // the browser is gone
}

func withQuery(path string, query url.Values) string {
	if len(query) == 0 {
		return path
	}
	return path + "?" + query.Encode()
}

// export writes the report of a run as one file, as report -o html does. It has its style in
// itself, and may do nothing else.
func (s *server) export(w http.ResponseWriter, r *http.Request, path string) {
	segments := split(path)
	if len(segments) != 4 {
		s.show(w, r, path)
		return
	}
	lt, failed := s.test(r.Context(), runs.Key{Namespace: segments[1], Name: segments[2]})
	if failed != nil {
		s.writePage(w, failed.page, failed.code, path)
		return
	}
	archived, _ := s.Backend.Results(r.Context(), lt)
	loads := s.loads(r.Context(), lt)
	for _, one := range loads {
		of, _ := s.Backend.Results(r.Context(), one)
		archived = append(archived, of...)
	}
	data, err := s.Report(lt, archived, loads...)
	if err != nil {
		http.Error(w, "the report cannot be written: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox")
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Disposition", `attachment; filename="`+plain(lt.Name)+`.html"`)
	_, _ = w.Write(data) // the browser is gone
}

// loads are the LoadTests of the loads of a run, as far as they are among the runs.
func (s *server) loads(ctx context.Context, lt *v1beta1.LoadTest) (list []*v1beta1.LoadTest) {
	for i := range lt.Status.Loads {
		l := &lt.Status.Loads[i]
		one, failed := s.test(ctx, runs.Key{Namespace: lt.Namespace, Name: l.Test})
		if failed == nil && string(one.UID) == l.UID {
			list = append(list, one)
		}
	}
	return list
}

// plain has the characters of a name that a file of any system may have.
func plain(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '.' {
			return r
		}
		return '_'
	}, name)
}
