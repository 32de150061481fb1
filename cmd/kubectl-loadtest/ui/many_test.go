package ui_test

import (
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/ui/uitest"
)

// A thousand runs are a page of fifty, however often it is looked at.
func TestThousandRuns(t *testing.T) {
	s := newSite()
	uitest.Fill(t, s.backend, 1000)
	first := s.get(t, "/")
	if n := strings.Count(first, "<tr>"); n > 60 {
		t.Errorf("the first page has %d rows", n)
	}
	for _, want := range []string{"1 to 50 of 1000", "nightly-999", "checkout-now", `class="spark"`, "1001 runs, 1 not ended", `rel="next"`} {
		if !strings.Contains(first, want) {
			t.Errorf("the first page has no %q", want)
		}
	}
	last := s.get(t, "/?page=20")
	if !strings.Contains(last, "951 to 1000 of 1000") || !strings.Contains(last, ">nightly-0<") || strings.Contains(last, `rel="next"`) {
		t.Error("the last page does not have the oldest runs")
	}
	if got := s.get(t, "/?page=4000"); !strings.Contains(got, "951 to 1000 of 1000") {
		t.Error("a page behind the last is not the last")
	}
	if got := s.get(t, "/?state=Failed&text=NIGHTLY-9"); strings.Count(got, "<tr><td>") != 36 || strings.Contains(got, "checkout-now") {
		t.Errorf("the filter leaves %d runs, want every third of 111", strings.Count(got, "<tr><td>"))
	}
	if got := s.get(t, "/history/shop/nightly"); !strings.Contains(got, "the newest 200 of 1000") || !strings.Contains(got, "30 2 * * 1-5") {
		t.Error("the history does not say what it leaves out")
	}
}

// A page of one in a thousand runs takes hardly more than one of a hundred: only what is on it is written.
func TestAPageCostsAsMuchWithMoreRuns(t *testing.T) {
	cost := func(finished int) float64 {
		s := newSite()
		uitest.Fill(t, s.backend, finished)
		return testing.AllocsPerRun(3, func() { s.get(t, "/") })
	}
	few, many := cost(100), cost(1000)
	if many > 1.1*few {
		t.Errorf("a page takes %.0f allocations with 1000 runs, and %.0f with 100", many, few)
	}
}
