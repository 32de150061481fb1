package queue

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Run is a LoadTest that has not ended.
type Run struct {
	UID             types.UID
	Namespace, Name string
	Priority        int32
	Created         time.Time
	// Workers is how many it has, or needs.
	Workers int32
	State   State
	// GaveWay says that it had a place and could not start: it comes after those that have
	// not been tried.
	GaveWay bool
}

// State is what a run asks of the queue.
type State int

const (
	// Waiting is to begin.
	Waiting State = iota
	// Begun has begun: it has a place until it ends.
	Begun
	// Held neither has a place nor asks for one: it is suspended before its start.
	Held
)

// Limits bound how much may run at once. Zero is no limit.
type Limits struct {
	// Runs and Workers are those of the cluster.
	Runs, Workers int32
	// Of is the most that a namespace may have; nil: there is no such limit.
	Of func(namespace string) Share
}

// Share bounds how much of one namespace may run at once. Zero is no limit.
type Share struct{ Runs, Workers int32 }

// Reason is the limit for which a run waits.
type Reason string

const (
	// NamespaceRuns is the number of runs in its namespace.
	NamespaceRuns Reason = "NamespaceRuns"
	// NamespaceWorkers is the number of workers in its namespace.
	NamespaceWorkers Reason = "NamespaceWorkers"
	// ClusterRuns is the number of runs in the cluster.
	ClusterRuns Reason = "ClusterRuns"
	// ClusterWorkers is the number of workers in the cluster.
	ClusterWorkers Reason = "ClusterWorkers"
)

// Place is where a run stands that is to begin.
type Place struct {
	// Begins says that it may begin now. What follows is then empty.
	Begins bool
	// Number is its place, from 1, among Of runs that wait: of its namespace if Reason is
	// NamespaceRuns or NamespaceWorkers, else of the cluster.
	Number, Of int
	Reason     Reason
	// Message is a sentence that says why it waits.
	Message string
}

// String is the place in short: place 3 of 7.
func (p Place) String() string { return fmt.Sprintf("place %d of %d", p.Number, p.Of) }

// before is the order of the runs of a namespace.
func before(a, b *Run) int {
	if a.GaveWay != b.GaveWay {
		return afterOthers(a.GaveWay)
	}
	if c := cmp.Compare(b.Priority, a.Priority); c != 0 {
		return c
	}
	if c := a.Created.Compare(b.Created); c != 0 {
		return c
	}
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

// afterOthers is the order of two runs, of which one gave way: the first of them, or the second.
func afterOthers(first bool) int {
	if first {
		return 1
	}
	return -1
}

// Line is the runs that wait, in their order.
type Line struct {
	count
	// begin are those that may begin now, blocked the others, each with its limit.
	begin   []*Run
	blocked []blocked
}

// blocked is a run that a limit keeps from beginning.
type blocked struct {
	*Run
	by Reason
}

// newLine puts runs in order. It keeps them; they must not change.
func newLine(runs []Run, limits Limits, t turns) *Line {
	l := &Line{count: count{limits: limits, of: map[string]*inUse{}}}
	var waiting []*Run
	for i := range runs {
		switch r := &runs[i]; r.State {
		case Begun:
			l.add(r)
		case Waiting:
			waiting = append(waiting, r)
		case Held:
		}
	}
	for _, r := range inOrder(waiting, l.workersOf, t) {
		if reason := l.blocks(r); reason != "" {
			l.blocked = append(l.blocked, blocked{r, reason})
			continue
		}
		l.add(r)
		l.begin = append(l.begin, r)
	}
	return l
}

// Begin are the runs that may begin now, in their order.
func (l *Line) Begin() []*Run { return l.begin }

// Waiting is how many runs wait.
func (l *Line) Waiting() int { return len(l.blocked) }

// WaitsFor says whether a run waits for a limit that another counts for.
func (l *Line) WaitsFor(namespace string) bool {
	return slices.ContainsFunc(l.blocked, func(b blocked) bool {
		return b.by == ClusterRuns || b.by == ClusterWorkers || b.Namespace == namespace
	})
}

// Place is that of a run that is to begin; any other begins.
func (l *Line) Place(uid types.UID) Place {
	at := slices.IndexFunc(l.blocked, func(b blocked) bool { return b.UID == uid })
	if at < 0 {
		return Place{Begins: true}
	}
	r := l.blocked[at]
	p := Place{Reason: r.by, Number: at + 1, Of: len(l.blocked), Message: l.explain(r)}
	if r.by == NamespaceRuns || r.by == NamespaceWorkers {
		p.Number, p.Of = l.inNamespace(at)
	}
	return p
}

// inNamespace is the place of a run among those of its namespace that wait, and how many
// these are.
func (l *Line) inNamespace(at int) (number, of int) {
	for i, b := range l.blocked {
		if b.Namespace != l.blocked[at].Namespace {
			continue
		}
		if of++; i == at {
			number = of
		}
	}
	return number, of
}

// explain is a sentence that says why a run waits.
func (l *Line) explain(b blocked) string {
	switch r := b.Run; b.by {
	case NamespaceRuns:
		return fmt.Sprintf("%d of %d runs of namespace %s are under way.", l.besides(r).runs, l.share(r).Runs, r.Namespace)
	case NamespaceWorkers:
		return fmt.Sprintf("%d of %d workers of namespace %s are in use; the run needs %d.", l.besides(r).workers, l.share(r).Workers, r.Namespace, r.Workers)
	case ClusterRuns:
		return fmt.Sprintf("%d of %d runs of the cluster are under way.", l.runs, l.limits.Runs)
	default:
		return fmt.Sprintf("%d of %d workers of the cluster are in use; the run needs %d.", l.workers, l.limits.Workers, r.Workers)
	}
}

// count is what runs, and what is kept free.
type count struct {
	inUse
	limits Limits
	of     map[string]*inUse // by namespace
}

// inUse is what runs, of a namespace or of all.
type inUse struct {
	runs    int
	workers int64
	// reserved says that a run waits for workers: what is free is for it.
	reserved bool
}

func (u *inUse) add(r *Run) {
	u.runs++
	u.workers += int64(r.Workers)
}

// lacks says whether too few workers are free for the next run. What is free is then kept for it. A
// run of more workers than the limit begins when nothing else runs.
func (u *inUse) lacks(r *Run, limit int32) bool {
	u.reserved = u.reserved || limit > 0 && u.workers > 0 && u.workers+int64(r.Workers) > int64(limit)
	return u.reserved
}

func (u *inUse) isFull(limit int32) bool { return limit > 0 && u.runs >= int(limit) }

func (c *count) add(r *Run) {
	c.inUse.add(r)
	c.besides(r).add(r)
}

// besides is what runs in the namespace of a run.
func (c *count) besides(r *Run) *inUse {
	if c.of[r.Namespace] == nil {
		c.of[r.Namespace] = &inUse{}
	}
	return c.of[r.Namespace]
}

func (c *count) workersOf(r *Run) int64 { return c.besides(r).workers }

// share is what may run in the namespace of a run.
func (c *count) share(r *Run) Share {
	if c.limits.Of == nil {
		return Share{}
	}
	return c.limits.Of(r.Namespace)
}

// blocks is the limit that keeps the next run in the order from beginning; empty: none.
func (c *count) blocks(r *Run) Reason {
	switch of, share := c.besides(r), c.share(r); {
	case of.isFull(share.Runs):
		return NamespaceRuns
	case of.lacks(r, share.Workers):
		return NamespaceWorkers
	case c.isFull(c.limits.Runs):
		return ClusterRuns
	case c.lacks(r, c.limits.Workers):
		return ClusterWorkers
	}
	return ""
}
