package queue_test

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/queue"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// waits is a run of one worker that was created so many seconds after noon.
func waits(namespace, name string, second int) queue.Run {
	return queue.Run{UID: types.UID(namespace + "/" + name), Namespace: namespace, Name: name, Workers: 1, Created: noon.Add(time.Duration(second) * time.Second)}
}

func begun(namespace string, workers int32) queue.Run {
	r := waits(namespace, "0", -60)
	r.State, r.Workers = queue.Begun, workers
	return r
}

func perNamespace(runs int32) func(string) queue.Share {
	return func(string) queue.Share { return queue.Share{Runs: runs} }
}

func TestPlaces(t *testing.T) {
	urgent, wide, six := waits("b", "urgent", 9), waits("b", "wide", 1), waits("b", "six", 1)
	urgent.Priority, wide.Workers, six.Workers = 5, 8, 6
	gave, held := waits("b", "g", 0), waits("a", "held", 0)
	gave.GaveWay, gave.Priority = true, 9
	held.State = queue.Held
	ten := func(string) queue.Share { return queue.Share{Workers: 10} }
	const begins = "begins"
	underWay := func(n, of int, place string) string {
		return fmt.Sprintf("%s %s: %d of %d runs of the cluster are under way.", place, queue.ClusterRuns, n, of)
	}
	inUse := func(n, of, needs int, place string) string {
		return fmt.Sprintf("%s %s: %d of %d workers of the cluster are in use; the run needs %d.", place, queue.ClusterWorkers, n, of, needs)
	}
	ofNamespace := func(namespace, place string) string {
		return fmt.Sprintf("%s %s: 1 of 1 runs of namespace %s are under way.", place, queue.NamespaceRuns, namespace)
	}
	ofTen := func(needs int, place string) string {
		return fmt.Sprintf("%s %s: 3 of 10 workers of namespace b are in use; the run needs %d.", place, queue.NamespaceWorkers, needs)
	}
	for name, tt := range map[string]struct {
		runs   []queue.Run
		limits queue.Limits
		want   map[types.UID]string
	}{
		"without limits all begin": {[]queue.Run{waits("a", "1", 1), waits("a", "2", 2)}, queue.Limits{}, map[types.UID]string{"a/1": begins, "a/2": begins}},
		"the older is first, then the namespace, and who is held has no place": {
			[]queue.Run{waits("a", "z", 2), waits("b", "x", 2), waits("a", "y", 2), waits("c", "old", 1), held}, queue.Limits{Runs: 2},
			map[types.UID]string{"c/old": begins, "a/y": begins, "b/x": underWay(2, 2, "1/2"), "a/z": underWay(2, 2, "2/2")},
		},
		"who has fewer workers is before who is older": {
			[]queue.Run{begun("a", 3), begun("b", 2), waits("a", "old", 1), waits("b", "1", 5), waits("c", "1", 8), waits("c", "2", 9)}, queue.Limits{Runs: 3},
			map[types.UID]string{"c/1": begins, "c/2": underWay(3, 3, "1/3"), "b/1": underWay(3, 3, "2/3"), "a/old": underWay(3, 3, "3/3")},
		},
		"a namespace has its own workers, which are kept for its first": {
			[]queue.Run{begun("b", 3), wide, waits("b", "2", 2), waits("a", "1", 3)}, queue.Limits{Workers: 100, Of: ten},
			map[types.UID]string{"b/wide": ofTen(8, "1/2"), "b/2": ofTen(1, "2/2"), "a/1": begins},
		},
		"priority is before what a namespace has": {[]queue.Run{begun("b", 9), waits("a", "1", 1), urgent}, queue.Limits{Runs: 2},
			map[types.UID]string{"b/urgent": begins, "a/1": underWay(2, 2, "1/1")}},
		"priority is before age": {[]queue.Run{waits("a", "1", 1), urgent}, queue.Limits{Runs: 1},
			map[types.UID]string{"b/urgent": begins, "a/1": underWay(1, 1, "1/1")}},
		"who gave way is after all that wait": {[]queue.Run{begun("a", 1), gave, waits("b", "1", 5), waits("a", "1", 9), begun("b", 1)}, queue.Limits{Runs: 3},
			map[types.UID]string{"b/1": begins, "a/1": underWay(3, 3, "1/2"), "b/g": underWay(3, 3, "2/2")}},
		"a namespace that is full holds up no other": {
			[]queue.Run{begun("a", 1), waits("a", "1", 1), waits("a", "2", 2), waits("b", "1", 3)}, queue.Limits{Runs: 10, Of: perNamespace(1)},
			map[types.UID]string{"a/1": ofNamespace("a", "1/2"), "a/2": ofNamespace("a", "2/2"), "b/1": begins},
		},
		"what is free is kept for the first that needs it": {[]queue.Run{begun("a", 4), wide, waits("a", "1", 2)}, queue.Limits{Workers: 10},
			map[types.UID]string{"b/wide": inUse(4, 10, 8, "1/2"), "a/1": inUse(4, 10, 1, "2/2")}},
		"a place in a full namespace is among its own, and one there keeps no workers free": {
			[]queue.Run{begun("a", 1), begun("b", 1), waits("a", "1", 0), wide, waits("b", "2", 2), waits("c", "1", 3)}, queue.Limits{Workers: 9, Of: perNamespace(1)},
			map[types.UID]string{"a/1": ofNamespace("a", "1/1"), "b/wide": ofNamespace("b", "1/2"), "b/2": ofNamespace("b", "2/2"), "c/1": begins},
		},
		"all workers may be in use":                                 {[]queue.Run{begun("a", 4), six}, queue.Limits{Workers: 10}, map[types.UID]string{"b/six": begins}},
		"a single worker is a limit":                                {[]queue.Run{begun("a", 1), waits("a", "1", 1)}, queue.Limits{Workers: 1}, map[types.UID]string{"a/1": inUse(1, 1, 1, "1/1")}},
		"one that a smaller limit would keep for ever begins alone": {[]queue.Run{wide}, queue.Limits{Workers: 2}, map[types.UID]string{"b/wide": begins}},
	} {
		t.Run(name, func(t *testing.T) {
			line, got := new(queue.Ledger).Line(tt.runs, tt.limits), map[types.UID]string{}
			for _, r := range tt.runs {
				if r.State != queue.Waiting {
					continue
				}
				p := line.Place(r.UID)
				if got[r.UID] = fmt.Sprintf("%d/%d %s: %s", p.Number, p.Of, p.Reason, p.Message); p.Begins {
					same.As(t, "a place that begins", queue.Place{Begins: true}, p)
					got[r.UID] = begins
				}
			}
			same.As(t, "places", tt.want, got)
		})
	}
}

// Two passes that read the same do not both take the last place.
func TestLedgerGivesAPlaceOnce(t *testing.T) {
	runs, limits := []queue.Run{waits("a", "1", 1), waits("a", "2", 2)}, queue.Limits{Runs: 1}
	var l queue.Ledger
	if place, line := l.Admit("a/1", runs, limits); !place.Begins || line.Waiting() != 1 {
		t.Fatalf("the first: %+v, and %d wait", place, line.Waiting())
	}
	if place, _ := l.Admit("a/1", runs, limits); !place.Begins {
		t.Errorf("asked again, the first waits: %+v", place)
	}
	if place, _ := l.Admit("a/2", runs, limits); place.Begins {
		t.Error("the second begins as well")
	}
	if !l.Withdraw("a/1") || l.Withdraw("a/1") {
		t.Error("what was withdrawn was not had, or is had still")
	}
	runs[0].State = queue.Held
	if next := l.Line(runs, limits).Begin(); len(next) != 1 || next[0].UID != "a/2" {
		t.Errorf("after that, %v may begin", next)
	}
}

// A run that was let begin and is read as held, by a cache that is behind, keeps its place.
func TestLedgerKeepsAPlaceUntilItIsReadBack(t *testing.T) {
	runs, limits := []queue.Run{waits("a", "1", 1), waits("a", "2", 2)}, queue.Limits{Runs: 1}
	var l queue.Ledger
	l.Admit("a/1", runs, limits)
	for _, state := range []queue.State{queue.Held, queue.Waiting, queue.Begun} {
		runs[0].State = state
		if place, _ := l.Admit("a/2", runs, limits); place.Begins {
			t.Errorf("the second begins while the first is read in state %d", state)
		}
	}
	runs[0].State = queue.Held
	if place, _ := l.Admit("a/2", runs, limits); !place.Begins {
		t.Errorf("the first was read as begun and is held again, and the second waits: %+v", place)
	}
	l.Withdraw("a/2")
	if place, _ := l.Admit("a/2", runs[1:], limits); !place.Begins {
		t.Errorf("the first is gone, and the second waits: %+v", place)
	}
}

// Thousands that wait are put into order in milliseconds: each pass of one of them does so.
func BenchmarkAdmit(b *testing.B) {
	runs := make([]queue.Run, 5000)
	for i := range runs {
		runs[i] = waits(fmt.Sprintf("team-%d", i%50), fmt.Sprint(i), i)
	}
	limits := queue.Limits{Runs: 50, Workers: 1000, Of: perNamespace(10)}
	var l queue.Ledger
	for b.Loop() {
		l.Admit(runs[4999].UID, runs, limits)
	}
}

// A run has a place that others wait for if their limit counts it.
func TestWhoWaitsForAPlace(t *testing.T) {
	runs := []queue.Run{begun("a", 1), waits("a", "1", 1), begun("b", 1)}
	ofNamespace := new(queue.Ledger).Line(runs, queue.Limits{Of: perNamespace(1)})
	ofCluster := new(queue.Ledger).Line(runs, queue.Limits{Runs: 2})
	none := new(queue.Ledger).Line(runs, queue.Limits{Runs: 3})
	for _, tc := range []struct {
		line      *queue.Line
		namespace string
		want      bool
	}{
		{ofNamespace, "a", true}, {ofNamespace, "b", false}, {ofCluster, "b", true}, {none, "a", false},
	} {
		if got := tc.line.WaitsFor(tc.namespace); got != tc.want {
			t.Errorf("a run waits for one of namespace %s: %t", tc.namespace, got)
		}
	}
}
