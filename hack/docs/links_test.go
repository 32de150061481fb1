package docs

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/hack/docs/page"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

const root = "../.."

// markdown are the pages of the whole repository, by path.
func markdown(t *testing.T) map[string]page.Page {
	t.Helper()
	pages := map[string]page.Page{}
	repo := os.DirFS(root)
	err := fs.WalkDir(repo, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (name == "bin" || d.Name() == "testdata" || d.Name()[0] == '.' && name != "."):
			return fs.SkipDir
		case path.Ext(name) != ".md":
			return nil
		}
		text, err := fs.ReadFile(repo, name)
		pages[name] = page.Parse(text)
		return err
	})
	must.Succeed(t, err)
	return pages
}

// TestLinksLeadSomewhere follows every link of every page of the repository to a file, a
// heading or, where its text is the name of a test, to that test.
func TestLinksLeadSomewhere(t *testing.T) {
	pages := markdown(t)
	if len(pages) < 50 {
		t.Fatalf("there are %d pages only", len(pages))
	}
	for name, p := range pages {
		for _, l := range p.Links {
			if problem := follow(pages, name, l); problem != "" {
				t.Errorf("%s: [%s](%s): %s", name, l.Text, l.Destination, problem)
			}
		}
	}
}

// follow says why a link leads nowhere; empty: it does not.
func follow(pages map[string]page.Page, name string, l page.Link) string {
	file, anchor, _ := strings.Cut(l.Destination, "#")
	if strings.Contains(file, ":") { // a URL
		return ""
	}
	to := name
	if file != "" {
		to = path.Join(path.Dir(name), file)
	}
	if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(to))); err != nil {
		return "there is no " + to
	}
	if p := pages[to]; anchor != "" && !p.HasAnchor(anchor) {
		return to + " has no heading with the anchor " + anchor
	}
	if strings.HasPrefix(l.Text, "Test") && strings.HasSuffix(to, "_test.go") {
		return hasTest(to, l.Text)
	}
	return ""
}

func hasTest(file, name string) string {
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(file)))
	if err != nil {
		return err.Error()
	}
	if !strings.Contains(string(text), "\nfunc "+name+"(") {
		return file + " has no function " + name
	}
	return ""
}

// TestLinksThatLeadNowhereAreFound has the check see each kind of mistake.
func TestLinksThatLeadNowhereAreFound(t *testing.T) {
	pages := map[string]page.Page{"docs/glossary.md": page.Parse([]byte("# Glossary\n"))}
	for destination, want := range map[string]string{
		"glossary.md":                    "",
		"#glossary":                      "",
		"https://example.com/#x":         "",
		"../config":                      "",
		"nothing.md":                     "there is no docs/nothing.md",
		"glossary.md#words":              "docs/glossary.md has no heading with the anchor words",
		"../hack/docs/links_test.go":     "",
		"../hack/docs/page/page_test.go": "hack/docs/page/page_test.go has no function TestLinksThatLeadNowhereAreFound",
	} {
		got := follow(pages, "docs/glossary.md", page.Link{Text: "TestLinksThatLeadNowhereAreFound", Destination: destination})
		same.As(t, destination, want, got)
	}
}
