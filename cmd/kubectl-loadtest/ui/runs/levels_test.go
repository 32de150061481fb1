package runs

import (
	"fmt"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/overview"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// nightly are runs of a name, of these p95 in milliseconds and largest rates.
func nightly(verdict string, late, rates []int) (list []*Run) {
	for i, ms := range late {
		r := &Run{
			Row:      overview.Row{Name: fmt.Sprintf("nightly-%d", i+1), Verdict: verdict, Created: time.Date(2026, 11, i+1, 2, 30, 0, 0, time.UTC)},
			Finished: true, Late: time.Duration(ms) * time.Millisecond,
		}
		if i < len(rates) {
			r.Load, r.Unit = float64(rates[i]), "/s"
		}
		list = append(list, r)
	}
	return list
}

func TestLevelsOfAFamily(t *testing.T) {
	slower := []int{40, 41, 40, 39, 52, 51, 52}
	at := time.Date(2026, 11, 5, 2, 30, 0, 0, time.UTC)
	want := []LevelChange{{Metric: "p95", Run: "nightly-5", Created: at, Before: "40ms", After: "52ms", Change: 30}}
	got := LevelChanges(nightly("Passed", slower, nil))
	same.As(t, "changes", want, got)
	if said := want[0].String(); said != "p95 has another level since nightly-5 (2026-11-05 02:30): 52ms instead of 40ms, +30 %." {
		t.Errorf("it says %s", said)
	}
	kept := LevelChanges(nightly("Failed", []int{40, 40, 40, 40, 40, 40}, []int{400, 400, 400, 300, 300, 300}))
	if len(kept) != 1 || kept[0].String() != "sustained has another level since nightly-4 (2026-11-04 02:30): 300/s instead of 400/s, -25 %." {
		t.Errorf("of rates: %v", kept)
	}
	for _, verdict := range []string{"Inconclusive", "Canceled", "Error"} {
		if got := LevelChanges(nightly(verdict, slower, nil)); len(got) > 0 {
			t.Errorf("runs that ended as %s count: %v", verdict, got)
		}
	}
}
