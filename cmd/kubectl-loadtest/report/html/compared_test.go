package html_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report/html"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report/reporttest"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// A page of tests side by side shows the table that it is given, a line for each test,
// and nothing of what a name would run.
func TestTestsSideBySideInABrowser(t *testing.T) {
	knee, better := reporttest.Knee(t), reporttest.Ladder(t, 100, 250, 500, 1000)
	burst := reporttest.Read(t, "../testdata/burst.yaml")
	rows := [][]string{{"Metric", "100", "250"}, {"(v3) P95", "13ms", "14ms *"}, {"(v4) P95", "12ms *", "-"}}
	pages := map[string][]byte{}
	for name, c := range map[string]html.Compared{
		"ladders": {Tests: []*v1beta1.LoadTest{knee, better}, Names: []string{"v3", "v4"}},
		"hostile": {Tests: []*v1beta1.LoadTest{knee, better, knee, better, knee}, Names: []string{foreign, "b", "c", "d", "e"}, Warnings: []string{foreign}},
		"bursts":  {Tests: []*v1beta1.LoadTest{burst, burst}, Names: []string{"v3", "v4"}},
	} {
		c.Table, c.Note = rows, "A note."
		page, err := html.Compare(c)
		must.Succeed(t, err)
		pages[name] = page
		if *keep != "" {
			must.Succeed(t, os.WriteFile(filepath.Join(*keep, "compared-"+name+".html"), page, 0o600))
		}
	}
	pages["unguarded"] = unguarded(t, pages["hostile"])
	wide, phone := browse(t, pages, "1000px"), browse(t, pages, "390px")
	for name := range pages {
		sound(t, name+", wide", wide[name])
		sound(t, name+", phone", phone[name])
		rowsAre(t, wide[name], "Figures by step", rows[1:])
	}
	eachSentenceOnce(t, "ladders", wide["ladders"].Prose)
	for name, want := range map[string]int{"ladders": 2, "hostile": 5} {
		if len(wide[name].Plots) != 4 {
			t.Fatalf("%s: %d drawings, want two of two shapes", name, len(wide[name].Plots))
		}
		for _, p := range wide[name].Plots {
			if p.Paths != want {
				t.Errorf("%s: plot %q has %d lines, want one for each of %d tests", name, p.Label, p.Paths, want)
			}
		}
	}
	if n := len(wide["bursts"].Plots); n != 0 {
		t.Errorf("%d plots of steps that have no order of load", n)
	}
	if !strings.Contains(wide["ladders"].Text, "p95 is 3.6s in step 4000") {
		t.Error("the page does not say why a test has its verdict")
	}
}
