package main

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/yuin/goldmark/ast"

	"github.com/loadtest-dev/loadtest-operator/hack/docs/page"
)

//go:embed page.html
var layout string

// site is what is rendered.
type site struct {
	docs       fs.FS
	out        string
	repository string
	parts      []part
	layout     *template.Template
}

// view is what the layout of a page is filled with.
type view struct {
	Title, Path string
	Parts       []part
	Body        template.HTML
}

// render writes the folder of the site anew.
func render(from, out, repository string) error {
	s := &site{docs: os.DirFS(from), out: out, repository: repository}
	text, err := fs.ReadFile(s.docs, front)
	if err != nil {
		return err
	}
	s.parts = navigation(text)
	if s.layout, err = template.New("page").Funcs(template.FuncMap{"to": relative}).Parse(layout); err != nil {
		return err
	}
	if err := removeSite(out); err != nil {
		return err
	}
	err = fs.WalkDir(s.docs, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		return s.file(name)
	})
	if err != nil {
		return err
	}
	return s.folders()
}

// removeSite removes the site that was written before. A folder that is none is left alone:
// it may be a mistake in -out.
func removeSite(out string) error {
	entries, err := os.ReadDir(out)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil
	}
	if _, err := os.Stat(filepath.Join(out, "index.html")); err != nil {
		return fmt.Errorf("%s is not empty and has no index.html: give another folder as -out, or remove it", out)
	}
	return os.RemoveAll(out)
}

// file renders a page, or copies what a page shows.
func (s *site) file(name string) error {
	text, err := fs.ReadFile(s.docs, name)
	if err != nil {
		return err
	}
	if path.Ext(name) != ".md" {
		return s.write(name, text)
	}
	return s.page(name, text)
}

// folders writes a list of its pages for each folder of the navigation.
func (s *site) folders() error {
	for _, p := range s.parts {
		for _, e := range p.Entries {
			if path.Ext(e.Path) == ".md" {
				continue
			}
			names, err := pagesOf(s.docs, e.Path)
			if err != nil {
				return err
			}
			text := "# " + e.Title + "\n\n"
			for _, name := range names {
				source, err := fs.ReadFile(s.docs, name)
				if err != nil {
					return err
				}
				read := page.Parse(source)
				text += fmt.Sprintf("- [%s](%s)\n", read.Title(), path.Base(name))
			}
			if err := s.page(path.Join(e.Path, front), []byte(text)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *site) page(name string, text []byte) error {
	tree := page.Tree(text)
	_ = ast.Walk(tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if l, ok := n.(*ast.Link); ok && entering {
			l.Destination = []byte(s.target(name, string(l.Destination)))
		}
		return ast.WalkContinue, nil
	}) // the walk returns no error
	var body bytes.Buffer
	if err := page.Markdown.Renderer().Render(&body, text, tree); err != nil {
		return fmt.Errorf("render %s: %w", name, err)
	}
	read := page.Parse(text)
	var out bytes.Buffer
	// The body is what the renderer made of our own pages: it leaves out raw HTML.
	v := view{Title: read.Title(), Path: name, Parts: s.parts, Body: template.HTML(body.String())}
	if err := s.layout.Execute(&out, v); err != nil {
		return fmt.Errorf("render %s: %w", name, err)
	}
	return s.write(rendered(name), out.Bytes())
}

// target is where a link of a page leads in the site: to a rendered page, to a file that
// is copied, or to the repository.
func (s *site) target(name, destination string) string {
	file, anchor, _ := strings.Cut(destination, "#")
	if strings.Contains(file, ":") || file == "" {
		return destination
	}
	if anchor != "" {
		anchor = "#" + anchor
	}
	to := path.Join(path.Dir(name), file)
	if strings.HasPrefix(to, "..") {
		return s.repository + path.Join("docs", to) + anchor
	}
	return relative(name, to) + anchor
}

// relative is the link from one page to another page, file or folder of the site.
func relative(from, to string) string {
	link, err := filepath.Rel(filepath.FromSlash(path.Dir(from)), filepath.FromSlash(rendered(to)))
	if err != nil {
		return to
	}
	return filepath.ToSlash(link)
}

// rendered is the file that a page, or the list of a folder, is rendered to.
func rendered(name string) string {
	switch {
	case path.Base(name) == front:
		return path.Join(path.Dir(name), "index.html")
	case path.Ext(name) == ".md":
		return strings.TrimSuffix(name, ".md") + ".html"
	case path.Ext(name) == "":
		return path.Join(name, "index.html")
	}
	return name
}

func (s *site) write(name string, text []byte) error {
	file := filepath.Join(s.out, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o644)
}
