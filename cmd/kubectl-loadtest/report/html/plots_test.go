package html_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report/reporttest"
	"github.com/loadtest-dev/loadtest-operator/test/browser"
)

// plotOf is a selector of the plot of a title.
func plotOf(title string) string { return fmt.Sprintf(`svg.wide[aria-label^="%s"]`, title) }

// said is what a page shows and says of a plot.
func said(t *testing.T, tab *browser.Tab, expression string) (text string) {
	t.Helper()
	tab.Eval(t, expression, &text)
	return text
}

const (
	shownTip = `document.querySelector(".tip").hidden ? "" : document.querySelector(".tip").textContent`
	spoken   = `document.querySelector("[role=status]").textContent`
)

// The report as one file, opened without a server: its plots show their values by pointer and by
// keyboard, and zoom.
func TestPlotsShowValuesAndZoom(t *testing.T) {
	b := browser.Start(t)
	tab := b.Open(t, "file://"+write(t, t.TempDir(), "knee", reporttest.Knee(t)))
	goodput, times, course := plotOf("Goodput"), plotOf("Response time by percentile"), plotOf("Requests due, successes")

	tab.Point(t, goodput, 0.5, 0.5)
	tab.Await(t, `!document.querySelector(".tip").hidden`)
	if text := said(t, tab, shownTip); !strings.Contains(text, "goodput") {
		t.Errorf("beside the pointer stands %q", text)
	}
	tab.Point(t, "h1", 0.5, 0.5)
	tab.Await(t, `document.querySelector(".tip").hidden && !document.querySelector(".cursor")`)

	// By keyboard, each place has its values, and a screen reader says them.
	tab.Eval(t, fmt.Sprintf("document.querySelector(%q).focus()", times), nil)
	tab.Press(t, "Home")
	first := said(t, tab, spoken)
	tab.Press(t, "ArrowRight")
	second := said(t, tab, spoken)
	tab.Press(t, "End")
	last := said(t, tab, spoken)
	tab.Press(t, "ArrowRight")
	if !strings.Contains(first, "at p0") || second == first || last == second || said(t, tab, spoken) != last {
		t.Errorf("the keys say %q, %q and at the end %q, %q", first, second, last, said(t, tab, spoken))
	}

	// What is zoomed has the same values as before at the same places, and can be undone.
	whole := said(t, tab, fmt.Sprintf("document.querySelector(%q).innerHTML", course))
	tab.Point(t, course, 0.5, 0.5)
	before := said(t, tab, shownTip)
	tab.Point(t, "h1", 0.5, 0.5)
	tab.Drag(t, course, 0.4, 0.6)
	scale := said(t, tab, fmt.Sprintf(`document.querySelector(%q + " line.axis").dataset.x`, course))
	var kind string
	var low, high float64
	if _, err := fmt.Sscan(scale, &kind, &low, &high); err != nil || low <= 0 || high <= low {
		t.Errorf("the zoomed axis has %q", scale)
	}
	// The place at a half of the picture is not a half of the axis: read the nearest to the same x.
	tab.Eval(t, fmt.Sprintf("document.querySelector(%q).focus()", course), nil)
	var found bool
	tab.Press(t, "Home")
	for range 900 {
		if now := said(t, tab, shownTip); now == before {
			found = true
			break
		}
		tab.Press(t, "ArrowRight")
	}
	if !found {
		t.Errorf("no place of the zoomed plot says %q", before)
	}
	if *keep != "" {
		tab.Picture(t, filepath.Join(*keep, "zoomed.png"), 4000)
	}
	tab.Press(t, "Escape")
	if again := said(t, tab, fmt.Sprintf("document.querySelector(%q).innerHTML", course)); again != whole {
		t.Error("after Escape the plot is another")
	}
	tab.Press(t, "+")
	tab.Press(t, "+")
	if text := said(t, tab, spoken); !strings.HasPrefix(text, "From ") {
		t.Errorf("after a zoom by the keyboard, %q is said", text)
	}
	if list := b.Errors(); len(list) > 0 {
		t.Errorf("the console says %q", list)
	}
}

// Where no script may run, each line and mark says its values as a title, and an axis says that it
// is logarithmic.
func TestPlotsWithoutAScript(t *testing.T) {
	got := page(t, reporttest.Knee(t), reporttest.Archived(reporttest.Knee(t))...)
	for _, want := range []string{"<title>goodput: ", "<title>p95: ", "users, logarithmic</text>", "response time, logarithmic</text>", `tabindex="0" aria-label="Goodput`} {
		if !strings.Contains(got, want) {
			t.Errorf("the page has no %s", want)
		}
	}
}
