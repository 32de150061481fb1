package main

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// TestPagesAreInTheNavigation says where a new page is to be listed.
func TestPagesAreInTheNavigation(t *testing.T) {
	docs := os.DirFS(filepath.Join(root, "docs"))
	text, err := os.ReadFile(filepath.Join(root, "docs", front))
	must.Succeed(t, err)
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

// TestSiteHasEveryPageAndItsLinks renders the pages, and follows each link between what was written.
func TestSiteHasEveryPageAndItsLinks(t *testing.T) {
	out := t.TempDir()
	must.Succeed(t, render(filepath.Join(root, "docs"), out, "https://code.example/"))
	names, err := pagesOf(os.DirFS(filepath.Join(root, "docs")), ".")
	must.Succeed(t, err)
	followed := 0
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(out, rendered(name)))
		must.Succeed(t, err)
		for _, rest := range strings.Split(string(text), ` href="`)[1:] {
			link, _, _ := strings.Cut(rest, `"`)
			file, anchor, _ := strings.Cut(link, "#")
			if strings.HasPrefix(link, "https://") || strings.HasPrefix(link, "http://") {
				continue
			}
			followed++
			to := filepath.Join(out, filepath.Dir(name), file)
			if file == "" {
				to = filepath.Join(out, rendered(name))
			}
			there, err := os.ReadFile(to)
			if err != nil || anchor != "" && !strings.Contains(string(there), ` id="`+anchor+`"`) {
				t.Errorf("%s leads to %s: %v", rendered(name), link, err)
			}
		}
	}
	if followed < 100 {
		t.Errorf("%d links were followed only", followed)
	}
}

// TestOnlyASiteIsOverwritten gives render a folder of something else by mistake.
func TestOnlyASiteIsOverwritten(t *testing.T) {
	docs, out := t.TempDir(), t.TempDir()
	write := func(dir, name, text string) {
		t.Helper()
		must.Succeed(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	write(docs, front, "# Front\n")
	write(out, "thesis.txt", "ten years")
	if err := render(docs, out, ""); err == nil {
		t.Error("a folder that is no site is overwritten")
	}
	if _, err := os.Stat(filepath.Join(out, "thesis.txt")); err != nil {
		t.Error(err)
	}
	write(out, "index.html", "")
	must.Report(t, "render", render(docs, out, ""))
	if _, err := os.Stat(filepath.Join(out, "thesis.txt")); err == nil {
		t.Error("the site has a file of the one before")
	}
}

func TestLinksLeadToRenderedPages(t *testing.T) {
	s := &site{repository: "https://code.example/"}
	got := map[string]string{}
	for _, to := range []string{"wire.md#frames", "../plugin.md", "../README.md", "../design/", "../images/demo.svg", "../../config/samples/hello.yaml", "../../README.md#try-it", "#frames", "https://example.com/a.md"} {
		got[to] = s.target("security/abuse.md", to)
	}
	want := map[string]string{
		"wire.md#frames": "wire.html#frames", "../plugin.md": "../plugin.html", "../README.md": "../index.html",
		"../design/": "../design/index.html", "../images/demo.svg": "../images/demo.svg",
		"../../config/samples/hello.yaml": "https://code.example/config/samples/hello.yaml", "../../README.md#try-it": "https://code.example/README.md#try-it",
		"#frames": "#frames", "https://example.com/a.md": "https://example.com/a.md",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// listed says whether a page, or its folder, is in the navigation.
func listed(parts []part, name string) bool {
	return name == front || slices.ContainsFunc(parts, func(p part) bool {
		return slices.ContainsFunc(p.Entries, func(e entry) bool { return e.Path == name || e.Path == path.Dir(name) })
	})
}
