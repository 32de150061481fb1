package docs

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/hack/docs/page"
	"github.com/loadtest-dev/loadtest-operator/test/must"
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

// TestPagesAreInTheNavigation says where a new page is to be listed.
func TestPagesAreInTheNavigation(t *testing.T) {
	docs := os.DirFS(filepath.Join(root, "docs"))
	text := must.ReadFile(t, filepath.Join(root, "docs", front))
	names, err := pagesOf(docs, ".")
	must.Succeed(t, err)
	parts := navigation(text)
	for _, name := range names {
		if !listed(parts, name) {
			t.Errorf("docs/%s is in no section of docs/README.md: add a line \"- [title](%s): what it says\" to one of them", name, name)
		}
	}
	if listed(parts, "nothing.md") || listed(parts, "nothing/nothing.md") {
		t.Error("pages that are not there are listed")
	}
}

// listed says whether a page, or its folder, is in the navigation.
func listed(parts []part, name string) bool {
	return name == front || slices.ContainsFunc(parts, func(p part) bool {
		return slices.ContainsFunc(p.Entries, func(e entry) bool { return e.Path == name || e.Path == path.Dir(name) })
	})
}
