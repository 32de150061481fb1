package page

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"io"
	"net/url"
	"strconv"
	"time"

	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/links"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report/html"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/ui/runs"
)

var (
	//go:embed *.html
	sources embed.FS
	//go:embed ui.css
	style string
	//go:embed live.js
	script string
	//go:embed icon.svg
	icon []byte
)

var templates = template.Must(template.New("").Funcs(template.FuncMap{
	"tone": html.Tone, "sign": html.Sign, "script": func() template.JS { return template.JS(Script()) },
}).ParseFS(sources, "*.html"))

// Style is the style sheet of all pages, and Icon is what a browser shows beside the title.
func Style() []byte { return []byte(html.Style() + "\n" + style) }
func Icon() []byte  { return icon }

// Script keeps a page up to date and shows values in plots. It is in each page: one that has come without its
// script, as where the network changed meanwhile, would stay as it is.
func Script() string { return html.Script() + script }

// Page is what is shown at a path.
type Page struct {
	// Kicker is the line above the title.
	Kicker, Title string
	// Actions lead to what can be done here.
	Actions []Link
	Parts   []Part
	// Refresh is how often the page changes by the time alone; 0: it does not.
	Refresh time.Duration
	// Tick writes the only part that changes by the time alone; nil: any may.
	Tick func(now time.Time) (Part, error)
	// Still says that the page does not change: there is nothing to follow.
	Still bool
}

// Link leads to another page.
type Link struct{ Text, Href string }

// Part is an element of a page that changes as a whole. Its name is that of the element,
// behind "part-".
type Part struct {
	Name string
	HTML template.HTML
	// Announced says that a screen reader says what has changed.
	Announced bool
}

// Digest tells whether two parts are the same.
func (p Part) Digest() string {
	sum := sha256.Sum256([]byte(p.HTML))
	return hex.EncodeToString(sum[:8])
}

// Site is where the pages are, and what they are about.
type Site struct {
	// Base is the path before that of each page, without a slash at its end.
	Base string
	// Scope says of which runs the pages are: "namespace shop", "all namespaces".
	Scope string
	// Cluster says that runs are in a cluster, where all can be ended and one run again.
	Cluster bool
	// Links lead from runs and traces to what else is known of them; nil: nowhere.
	Links *links.Templates
}

// frame is what is around the parts of a page.
type frame struct {
	*Page
	Site
	// Path is the page's own, with its query.
	Path    string
	Seconds string
}

// Write writes a page whole. The path is that of the page below the base, with its query.
func (s Site) Write(w io.Writer, p *Page, path string) error {
	f := frame{Page: p, Site: s, Path: path}
	if !p.Still {
		const slow = 10 * time.Second // a page that is loaded anew each second cannot be read
		f.Seconds = strconv.Itoa(int(max(p.Refresh, slow).Seconds()))
	}
	return templates.ExecuteTemplate(w, "frame", f)
}

// part writes a part by the template of its name.
func part(name string, data any) (Part, error) {
	var b bytes.Buffer
	if err := templates.ExecuteTemplate(&b, name, data); err != nil {
		return Part{}, fmt.Errorf("write part %s: %w", name, err)
	}
	return Part{Name: name, HTML: template.HTML(bytes.TrimSpace(b.Bytes()))}, nil
}

// parts writes parts in order.
func parts(list ...func() (Part, error)) ([]Part, error) {
	var all []Part
	for _, write := range list {
		p, err := write()
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

// of is a part that is written later.
func of(name string, data any) func() (Part, error) {
	return func() (Part, error) { return part(name, data) }
}

// announced is a part that a screen reader says when it changes.
func announced(name string, data any) func() (Part, error) {
	return func() (Part, error) {
		p, err := part(name, data)
		p.Announced = true
		return p, err
	}
}

// path is a path below the base, of segments that may have any characters.
func (s Site) path(segments ...string) string {
	path := s.Base
	for _, segment := range segments {
		path += "/" + url.PathEscape(segment)
	}
	return path
}

// RunPath is the page of a run.
func (s Site) RunPath(key runs.Key) string { return s.path("run", key.Namespace, key.Name) }

func (s Site) stepPath(key runs.Key, step int) string {
	return s.path("run", key.Namespace, key.Name, "step", strconv.Itoa(step))
}

func (s Site) requestPath(key runs.Key, step, request int) string {
	return s.path("run", key.Namespace, key.Name, "step", strconv.Itoa(step), "request", strconv.Itoa(request))
}
