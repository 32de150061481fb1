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
	// Of is how many runs a namespace may have; nil: there is no such limit.
	Of func(namespace string) int32
}

// Reason is the limit for which a run waits.
type Reason string

const (
	// NamespaceRuns is the number of runs in its namespace.
	NamespaceRuns Reason = "NamespaceRuns"
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
	// NamespaceRuns, else of the cluster.
	Number, Of int
	Reason     Reason
	// Message is a sentence that says why it waits.
	Message string
}

// String is the place in short: place 3 of 7.
func (p Place) String() string { return fmt.Sprintf("place %d of %d", p.Number, p.Of) }

// before is the order of the queue.
func before(a, b *Run) int {
	if c := cmp.Compare(b.Priority, a.Priority); c != 0 {
		return c
	}
	if c := a.Created.Compare(b.Created); c != 0 {
		return c
	}
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
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

// NewLine puts runs in order. It keeps them; they must not change.
func NewLine(runs []Run, limits Limits) *Line {
	l := &Line{count: count{limits: limits, runs: map[string]int{}}}
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
	slices.SortFunc(waiting, before)
	for _, r := range waiting {
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

// Place is that of a run that is to begin; any other begins.
func (l *Line) Place(uid types.UID) Place {
	at := slices.IndexFunc(l.blocked, func(b blocked) bool { return b.UID == uid })
	if at < 0 {
		return Place{Begins: true}
	}
	r := l.blocked[at]
	p := Place{Reason: r.by, Number: at + 1, Of: len(l.blocked), Message: l.explain(r)}
	if r.by == NamespaceRuns {
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
func (l *Line) explain(r blocked) string {
	switch r.by {
	case NamespaceRuns:
		return fmt.Sprintf("%d of %d runs of namespace %s are under way.", l.runs[r.Namespace], l.of(r.Namespace), r.Namespace)
	case ClusterRuns:
		return fmt.Sprintf("%d of %d runs of the cluster are under way.", l.all, l.limits.Runs)
	default:
		return fmt.Sprintf("%d of %d workers of the cluster are in use; the run needs %d.", l.workers, l.limits.Workers, r.Workers)
	}
}

// count is what runs, and what is kept free.
type count struct {
	limits  Limits
	all     int
	runs    map[string]int // by namespace
	workers int64
	// reserved says that a run waits for workers: what is free is for it.
	reserved bool
}

func (c *count) add(r *Run) {
	c.all++
	c.runs[r.Namespace]++
	c.workers += int64(r.Workers)
}

// blocks is the limit that keeps the next run in the order from beginning; empty: none.
func (c *count) blocks(r *Run) Reason {
	switch {
	case isFull(c.runs[r.Namespace], c.of(r.Namespace)):
		return NamespaceRuns
	case isFull(c.all, c.limits.Runs):
		return ClusterRuns
	case c.reserved || c.limits.Workers > 0 && c.workers > 0 && c.workers+int64(r.Workers) > int64(c.limits.Workers):
		c.reserved = true
		return ClusterWorkers
	}
	return ""
}

func isFull(n int, limit int32) bool { return limit > 0 && n >= int(limit) }

func (c *count) of(namespace string) int32 {
	if c.limits.Of == nil {
		return 0
	}
	return c.limits.Of(namespace)
}
