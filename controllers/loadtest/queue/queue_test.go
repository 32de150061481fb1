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
	gave := waits("b", "g", 0)
	gave.GaveWay, gave.Priority = true, 9
	held := waits("a", "held", 0)
	held.State = queue.Held
	tests := map[string]struct {
		runs   []queue.Run
		limits queue.Limits
		want   map[types.UID]queue.Place
	}{
		"without limits all begin": {runs: []queue.Run{waits("a", "1", 1), waits("a", "2", 2)},
			want: map[types.UID]queue.Place{"a/1": {Begins: true}, "a/2": {Begins: true}}},
		"the older is first, then the namespace, and who is held has no place": {
			runs:   []queue.Run{waits("a", "z", 2), waits("b", "x", 2), waits("a", "y", 2), waits("c", "old", 1), held},
			limits: queue.Limits{Runs: 2},
			want: map[types.UID]queue.Place{
				"c/old": {Begins: true}, "a/y": {Begins: true},
				"b/x": {Number: 1, Of: 2, Reason: queue.ClusterRuns, Message: "2 of 2 runs of the cluster are under way."},
				"a/z": {Number: 2, Of: 2, Reason: queue.ClusterRuns, Message: "2 of 2 runs of the cluster are under way."},
			},
		},
		"who has fewer workers is before who is older": {
			runs:   []queue.Run{begun("a", 3), begun("b", 2), waits("a", "old", 1), waits("b", "1", 5), waits("c", "1", 8), waits("c", "2", 9)},
			limits: queue.Limits{Runs: 3},
			want: map[types.UID]queue.Place{
				"c/1":   {Begins: true},
				"c/2":   {Number: 1, Of: 3, Reason: queue.ClusterRuns, Message: "3 of 3 runs of the cluster are under way."},
				"b/1":   {Number: 2, Of: 3, Reason: queue.ClusterRuns, Message: "3 of 3 runs of the cluster are under way."},
				"a/old": {Number: 3, Of: 3, Reason: queue.ClusterRuns, Message: "3 of 3 runs of the cluster are under way."},
			},
		},
		"a namespace has its own workers, which are kept for its first": {
			runs:   []queue.Run{begun("b", 3), wide, waits("b", "2", 2), waits("a", "1", 3)},
			limits: queue.Limits{Workers: 100, Of: func(string) queue.Share { return queue.Share{Workers: 10} }},
			want: map[types.UID]queue.Place{
				"b/wide": {Number: 1, Of: 2, Reason: queue.NamespaceWorkers, Message: "3 of 10 workers of namespace b are in use; the run needs 8."},
				"b/2":    {Number: 2, Of: 2, Reason: queue.NamespaceWorkers, Message: "3 of 10 workers of namespace b are in use; the run needs 1."},
				"a/1":    {Begins: true},
			},
		},
		"priority is before what a namespace has": {
			runs:   []queue.Run{begun("b", 9), waits("a", "1", 1), urgent},
			limits: queue.Limits{Runs: 2},
			want: map[types.UID]queue.Place{
				"b/urgent": {Begins: true}, "a/1": {Number: 1, Of: 1, Reason: queue.ClusterRuns, Message: "2 of 2 runs of the cluster are under way."},
			},
		},
		"priority is before age": {
			runs:   []queue.Run{waits("a", "1", 1), urgent},
			limits: queue.Limits{Runs: 1},
			want: map[types.UID]queue.Place{
				"b/urgent": {Begins: true}, "a/1": {Number: 1, Of: 1, Reason: queue.ClusterRuns, Message: "1 of 1 runs of the cluster are under way."},
			},
		},
		"who gave way is after all that wait": {
			runs:   []queue.Run{begun("a", 1), gave, waits("b", "1", 5), waits("a", "1", 9), begun("b", 1)},
			limits: queue.Limits{Runs: 3},
			want: map[types.UID]queue.Place{
				"b/1": {Begins: true},
				"a/1": {Number: 1, Of: 2, Reason: queue.ClusterRuns, Message: "3 of 3 runs of the cluster are under way."},
				"b/g": {Number: 2, Of: 2, Reason: queue.ClusterRuns, Message: "3 of 3 runs of the cluster are under way."},
			},
		},
		"a namespace that is full holds up no other": {
			runs:   []queue.Run{begun("a", 1), waits("a", "1", 1), waits("a", "2", 2), waits("b", "1", 3)},
			limits: queue.Limits{Runs: 10, Of: perNamespace(1)},
			want: map[types.UID]queue.Place{
				"a/1": {Number: 1, Of: 2, Reason: queue.NamespaceRuns, Message: "1 of 1 runs of namespace a are under way."},
				"a/2": {Number: 2, Of: 2, Reason: queue.NamespaceRuns, Message: "1 of 1 runs of namespace a are under way."},
				"b/1": {Begins: true},
			},
		},
		"what is free is kept for the first that needs it": {
			runs:   []queue.Run{begun("a", 4), wide, waits("a", "1", 2)},
			limits: queue.Limits{Workers: 10},
			want: map[types.UID]queue.Place{
				"b/wide": {Number: 1, Of: 2, Reason: queue.ClusterWorkers, Message: "4 of 10 workers of the cluster are in use; the run needs 8."},
				"a/1":    {Number: 2, Of: 2, Reason: queue.ClusterWorkers, Message: "4 of 10 workers of the cluster are in use; the run needs 1."},
			},
		},
		"a place in a full namespace is among its own, and one there keeps no workers free": {
			runs:   []queue.Run{begun("a", 1), begun("b", 1), waits("a", "1", 0), wide, waits("b", "2", 2), waits("c", "1", 3)},
			limits: queue.Limits{Workers: 9, Of: perNamespace(1)},
			want: map[types.UID]queue.Place{
				"a/1":    {Number: 1, Of: 1, Reason: queue.NamespaceRuns, Message: "1 of 1 runs of namespace a are under way."},
				"b/wide": {Number: 1, Of: 2, Reason: queue.NamespaceRuns, Message: "1 of 1 runs of namespace b are under way."},
				"b/2":    {Number: 2, Of: 2, Reason: queue.NamespaceRuns, Message: "1 of 1 runs of namespace b are under way."},
				"c/1":    {Begins: true},
			},
		},
		"all workers may be in use": {runs: []queue.Run{begun("a", 4), six}, limits: queue.Limits{Workers: 10}, want: map[types.UID]queue.Place{"b/six": {Begins: true}}},
		"a single worker is a limit": {
			runs: []queue.Run{begun("a", 1), waits("a", "1", 1)}, limits: queue.Limits{Workers: 1},
			want: map[types.UID]queue.Place{
				"a/1": {Number: 1, Of: 1, Reason: queue.ClusterWorkers, Message: "1 of 1 workers of the cluster are in use; the run needs 1."},
			},
		},
		"one that a smaller limit would keep for ever begins alone": {runs: []queue.Run{wide}, limits: queue.Limits{Workers: 2},
			want: map[types.UID]queue.Place{"b/wide": {Begins: true}}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			line, got := new(queue.Ledger).Line(tt.runs, tt.limits), map[types.UID]queue.Place{}
			for _, r := range tt.runs {
				if r.State == queue.Waiting {
					got[r.UID] = line.Place(r.UID)
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
