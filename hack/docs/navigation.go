package main

import (
	"io/fs"
	"path"
	"strings"

	"github.com/loadtest-dev/loadtest-operator/hack/docs/page"
)

// front is the page that lists all others: its links, section by section, are the
// navigation. A link to a folder stands for all pages in it.
const front = "README.md"

// part is a section of the navigation.
type part struct {
	Title   string
	Entries []entry
}

// entry is a page, or a folder of pages, in the navigation.
type entry struct{ Title, Path string }

// navigation reads the front page.
func navigation(text []byte) []part {
	var parts []part
	p := page.Parse(text)
	for _, l := range p.Links {
		leadsOut := strings.Contains(l.Destination, ":") || strings.HasPrefix(l.Destination, "..")
		isPage := strings.HasSuffix(l.Destination, ".md") || strings.HasSuffix(l.Destination, "/")
		if leadsOut || !isPage || l.Section == p.Title() {
			continue
		}
		if len(parts) == 0 || parts[len(parts)-1].Title != l.Section {
			parts = append(parts, part{Title: l.Section})
		}
		last := &parts[len(parts)-1]
		last.Entries = append(last.Entries, entry{l.Text, path.Clean(l.Destination)})
	}
	return parts
}

// pagesOf are the pages of docs, or of one of its folders, by path.
func pagesOf(docs fs.FS, folder string) ([]string, error) {
	var list []string
	err := fs.WalkDir(docs, folder, func(name string, _ fs.DirEntry, err error) error {
		if path.Ext(name) == ".md" {
			list = append(list, name)
		}
		return err
	})
	return list, err
}
