package html_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"html"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// rendered is what a browser shows of a page.
type rendered struct {
	Verdict, Sentence string
	// Text is what is visible of the page; Broken what a script of a stranger left
	// behind.
	Text, Broken string
	// Prose is the text without the plots and the manifest.
	Prose     string
	Attention []string
	Tables    []renderedTable
	// Bars are the widths in pixels of the segments of each row of outcomes.
	Bars [][]float64
	// Marks are how many marks each visible plot shows, Rules where its rule stands, and
	// Places where its marks do.
	Plots []struct {
		Label  string
		Marks  []float64
		Rules  []float64
		Width  float64
		Paths  int
		Hidden bool
	}
	// Folded are the sections that are folded, Dangling the links that lead to none. Alive says
	// that the page's own script ran.
	Folded, Dangling []string
	// Twice are ids that more than one element has.
	Twice []string
	Alive bool
	// Foreign are elements and attributes that a page may not have.
	Foreign  []string
	Unnamed  []string
	Overflow float64
	Paper    string
}

type renderedTable struct {
	Name  string
	Heads []string
	Rows  [][]string
}

// probe reads a page as it is shown. It runs outside of the page, which forbids
// scripts.
const probe = `
function text(e) { return e ? e.innerText.trim() : "" }
function probe(frame) {
  const d = frame.contentDocument, w = frame.contentWindow, all = s => [...d.querySelectorAll(s)];
  const shown = e => e.getBoundingClientRect().width > 0;
  const folded = all("details").map(e => e.open ? "" : text(e.querySelector("summary")));
  for (const e of all("details")) e.open = true;
  const inPage = e => (e.getAttribute("href") || "").startsWith("#");
  const middle = e => { const r = e.getBoundingClientRect(); return r.x + r.width / 2 };
  return {
    verdict: text(d.querySelector("#verdict .word")), sentence: text(d.querySelector("#verdict .why")),
    text: d.body.innerText, broken: String(w.broken === undefined ? "" : w.broken),
    folded, dangling: all("a").map(a => a.getAttribute("href")).filter(h => !d.querySelector(":is(h1, h2)" + h)),
    twice: all("[id]").map(e => e.id).filter((id, n, ids) => ids.indexOf(id) !== n),
    alive: !!d.querySelector("div.tip"),
    attention: all(".attention li").map(text),
    tables: all(".scroll").map(s => ({
      name: s.getAttribute("aria-label") || s.getAttribute("aria-labelledby"),
      heads: [...s.querySelectorAll("thead th")].map(text),
      rows: [...s.querySelectorAll("tbody tr")].map(r => [...r.children].map(text)),
    })),
    bars: all(".bar").map(b => [...b.querySelectorAll("rect")].map(r => r.getBoundingClientRect().width)),
    plots: all("figure svg").map(p => ({
      label: p.getAttribute("aria-label"), marks: [...p.querySelectorAll(".mark")].map(middle), rules: [...p.querySelectorAll("line.rule")].map(middle),
      width: p.getBoundingClientRect().width, paths: p.querySelectorAll(".curve").length, hidden: !shown(p),
    })),
    foreign: all("script, img, iframe, object, embed, link, base, form, a, foreignObject, animate, set").filter(e => !inPage(e) && e !== d.querySelector("body > main + script")).map(e => e.outerHTML.slice(0, 80)).concat(
      all("*").flatMap(e => [...e.attributes].filter(a => !inPage(e) && /^on|^(xlink:)?href$|^src$|^formaction$/i.test(a.name)).map(a => e.tagName + " " + a.name))),
    unnamed: all("figure svg:not([aria-label]), figure svg:not([role=img]), th:not([scope]), svg:not([aria-label]):not([aria-hidden]), .scroll:not([aria-label]):not([aria-labelledby])").map(e => e.outerHTML.slice(0, 80)),
    overflow: d.documentElement.scrollWidth - d.documentElement.clientWidth,
    prose: (all("pre, svg, .plot").forEach(e => e.remove()), d.body.innerText),
    paper: w.getComputedStyle(d.body).backgroundColor,
  };
}
addEventListener("load", () => {
  const all = {};
  for (const f of document.querySelectorAll("iframe")) all[f.name] = probe(f);
  const bytes = new TextEncoder().encode(JSON.stringify(all));
  let s = ""; for (const b of bytes) s += String.fromCharCode(b);
  document.body.innerHTML = "<pre id=probe>" + btoa(s) + "</pre>";
});
`

// browse shows pages in a browser without a screen, each in a frame of a width, and
// reads what there is to see.
func browse(t *testing.T, pages map[string][]byte, width string, flags ...string) map[string]rendered {
	t.Helper()
	var b bytes.Buffer
	b.WriteString(`<!DOCTYPE html><meta charset="utf-8"><script>` + probe + `</script>`)
	for _, name := range slices.Sorted(maps.Keys(pages)) {
		b.WriteString(`<iframe name="` + name + `" style="border:0;width:` + width + `;height:900px" srcdoc="` + html.EscapeString(string(pages[name])) + `"></iframe>`)
	}
	path := filepath.Join(t.TempDir(), "pages.html")
	must.Succeed(t, os.WriteFile(path, b.Bytes(), 0o600))
	args := append([]string{"--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--virtual-time-budget=60000", "--dump-dom"}, flags...)
	command := exec.CommandContext(t.Context(), chromium(t), append(args, "file://"+path)...)
	var stderr bytes.Buffer
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", command.Args, err, stderr.String())
	}
	found := regexp.MustCompile(`<pre id="probe">([^<]*)</pre>`).FindSubmatch(out)
	if found == nil {
		t.Fatalf("the browser shows no result:\n%.2000s\n%s", out, stderr.String())
	}
	data, err := base64.StdEncoding.DecodeString(string(found[1]))
	must.Succeed(t, err)
	result := map[string]rendered{}
	must.Succeed(t, json.Unmarshal(data, &result))
	if len(result) != len(pages) {
		t.Fatalf("the browser shows %d of %d pages", len(result), len(pages))
	}
	return result
}

func chromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Fatal("no Chromium is installed: run make deps, or apt-get install chromium-headless-shell")
	return ""
}

// contents are the pages of LoadTests in every state.
func contents(t *testing.T) map[string][]byte {
	t.Helper()
	pages := map[string][]byte{}
	for name, lt := range states(t) {
		data := must.ReadFile(t, write(t, t.TempDir(), name, lt))
		pages[name] = data
	}
	return pages
}

// unguarded is a page without the policy that forbids scripts.
func unguarded(t *testing.T, page []byte) []byte {
	t.Helper()
	open, guarded := regexp.MustCompile(`<meta http-equiv="Content-Security-Policy"[^>]*>`), string(page)
	if !open.MatchString(guarded) || !strings.Contains(open.FindString(guarded), "default-src &#39;none&#39;") && !strings.Contains(open.FindString(guarded), "default-src 'none'") {
		t.Fatal("the page has no policy")
	}
	return []byte(open.ReplaceAllString(guarded, ""))
}
