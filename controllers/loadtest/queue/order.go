package queue

import (
	"cmp"
	"container/heap"
	"slices"
)

// turns number the namespaces by when a run of each began last, from 1; 0: none has, as far as
// this process knows.
type turns struct {
	last int64
	of   map[string]int64
}

// maxTurns bounds the namespaces that are known; they come and go.
const maxTurns = 10_000

// take notes that a run of a namespace begins.
func (t *turns) take(namespace string) {
	if t.of == nil || len(t.of) >= maxTurns {
		t.of = map[string]int64{}
	}
	t.last++
	t.of[namespace] = t.last
}

// inOrder is the order of the queue: by priority; then by the workers of the namespace, of its runs
// that have begun or come before in the order, the fewest first; then by whose turn it is; then by
// age. So the order does not follow from how many runs a namespace has waiting, nor from when it
// made them.
//
// It is max-min fairness in workers, which is approached one run at a time (progressive filling:
// Bertsekas and Gallager, "Data Networks", 6.5.2), and round robin between namespaces that have as
// many.
//
// Those that had a place and gave way come after all others, whatever their priority.
func inOrder(waiting []*Run, workersOf func(*Run) int64, t turns) []*Run {
	slices.SortFunc(waiting, before)
	byName := map[string]*namespace{}
	var all fewestFirst
	for _, r := range waiting {
		if byName[r.Namespace] == nil {
			byName[r.Namespace] = &namespace{workers: workersOf(r), turn: t.of[r.Namespace]}
			all = append(all, byName[r.Namespace])
		}
		byName[r.Namespace].runs = append(byName[r.Namespace].runs, r)
	}
	heap.Init(&all)
	order := make([]*Run, 0, len(waiting))
	for len(all) > 0 {
		first := all[0]
		r := first.runs[0]
		order = append(order, r)
		first.runs, first.workers = first.runs[1:], first.workers+int64(r.Workers)
		if len(first.runs) == 0 {
			heap.Pop(&all)
		} else {
			heap.Fix(&all, 0)
		}
	}
	return order
}

// namespace has the runs that wait of one, in their order, the workers that it has, and its turn.
type namespace struct {
	runs          []*Run
	workers, turn int64
}

// fewestFirst is a heap of namespaces, whose root has the run that is next.
type fewestFirst []*namespace

var _ heap.Interface = (*fewestFirst)(nil)

func (t fewestFirst) Len() int { return len(t) }

func (t fewestFirst) Less(i, j int) bool {
	a, b := t[i], t[j]
	if late := a.runs[0].GaveWay; late != b.runs[0].GaveWay {
		return !late
	}
	if c := cmp.Compare(b.runs[0].Priority, a.runs[0].Priority); c != 0 {
		return c < 0
	}
	if c := cmp.Or(cmp.Compare(a.workers, b.workers), cmp.Compare(a.turn, b.turn)); c != 0 {
		return c < 0
	}
	return before(a.runs[0], b.runs[0]) < 0
}

func (t fewestFirst) Swap(i, j int) { t[i], t[j] = t[j], t[i] }

// Push is not used: all namespaces are there from the beginning.
func (t *fewestFirst) Push(x any) { *t = append(*t, x.(*namespace)) }

func (t *fewestFirst) Pop() any {
	last := len(*t) - 1
	x := (*t)[last]
	*t = (*t)[:last]
	return x
}
