package queue_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/queue"
)

// cluster is a simulated set of LoadTests with an operator whose cache is behind, whose
// writes fail, and which starts anew at any moment.
type cluster struct {
	t      *testing.T
	r      *rand.Rand
	limits queue.Limits
	// stored are the LoadTests, cached those that the operator reads.
	stored, cached []queue.Run
	ledger         queue.Ledger
	// granted are the runs that this process let begin.
	granted map[types.UID]bool
	ended   int
}

// find is a run by its UID; nil: it is gone.
func find(runs []queue.Run, uid types.UID) *queue.Run {
	i := slices.IndexFunc(runs, func(r queue.Run) bool { return r.UID == uid })
	if i < 0 {
		return nil
	}
	return &runs[i]
}

// pass is a pass of the reconciler over a run of the cache. It writes on the version that
// it read; a write on another fails.
func (c *cluster) pass(uid types.UID) {
	read := find(c.cached, uid)
	if read == nil || read.State != queue.Waiting {
		return
	}
	place, line := c.ledger.Admit(uid, c.cached, c.limits)
	if place.Begins && !c.granted[uid] {
		c.checkOrder(read, line.Begin())
		c.granted[uid] = true
	}
	is := find(c.stored, uid)
	fails := c.r.IntN(10) == 0 || is == nil || is.State != queue.Waiting
	if !place.Begins || fails {
		return // it is tried again
	}
	is.State = queue.Begun
	c.checkLimits()
}

// checkLimits holds what has begun to the limits.
func (c *cluster) checkLimits() {
	var all, workers int32
	namespaces := map[string]queue.Share{}
	for _, r := range c.stored {
		if r.State == queue.Begun {
			all, workers = all+1, workers+r.Workers
			n, most := namespaces[r.Namespace], c.limits.Of(r.Namespace)
			n.Runs, n.Workers = n.Runs+1, n.Workers+r.Workers
			namespaces[r.Namespace] = n
			if n.Runs > most.Runs || n.Workers > most.Workers {
				c.t.Fatalf("%d runs with %d workers of namespace %s have begun; the limits are %+v", n.Runs, n.Workers, r.Namespace, most)
			}
		}
	}
	if all > c.limits.Runs || workers > c.limits.Workers {
		c.t.Fatalf("%d runs with %d workers have begun; the limits are %d and %d", all, workers, c.limits.Runs, c.limits.Workers)
	}
}

// checkOrder looks for a run of the same namespace that is before r, by what the operator
// read and let begin, and may not begin as well.
func (c *cluster) checkOrder(r *queue.Run, next []*queue.Run) {
	for i := range c.cached {
		o := &c.cached[i]
		ahead := o.Priority > r.Priority || o.Priority == r.Priority && o.Created.Before(r.Created)
		if o.Namespace == r.Namespace && o.State == queue.Waiting && ahead && !c.granted[o.UID] && !slices.ContainsFunc(next, func(n *queue.Run) bool { return n.UID == o.UID }) {
			c.t.Fatalf("%s begins before %s", r.UID, o.UID)
		}
	}
}

// step is something that happens.
func (c *cluster) step() {
	switch n := c.r.IntN(100); {
	case n < 60 && len(c.cached) > 0:
		c.pass(c.cached[c.r.IntN(len(c.cached))].UID)
	case n < 75: // the watch brings what there is
		c.cached = slices.Clone(c.stored)
	case n < 80: // another process takes over: it reads all before its first pass
		c.cached, c.ledger, c.granted = slices.Clone(c.stored), queue.Ledger{}, map[types.UID]bool{}
	case n < 95:
		c.end()
	default:
		c.suspend()
	}
}

// end lets one of those that have begun end.
func (c *cluster) end() {
	for i := range c.stored {
		if c.stored[i].State == queue.Begun {
			c.stored = slices.Delete(slices.Clone(c.stored), i, i+1)
			c.ended++
			return
		}
	}
}

// suspend holds a run that waits, or resumes one.
func (c *cluster) suspend() {
	if len(c.stored) == 0 {
		return
	}
	r := &c.stored[c.r.IntN(len(c.stored))]
	switch r.State {
	case queue.Waiting:
		r.State = queue.Held
		c.ledger.Withdraw(r.UID)
		delete(c.granted, r.UID)
	case queue.Held:
		r.State = queue.Waiting
	case queue.Begun:
	}
}

// Whatever happens, no more runs begin than may, they begin in order, and each does at
// last.
func TestQueueHoldsItsLimitsAndStarvesNone(t *testing.T) {
	const seeds, runs = 200, 40
	for seed := range uint64(seeds) {
		r := rand.New(rand.NewPCG(seed, 0))
		share := queue.Share{Runs: 1 + r.Int32N(3), Workers: 8 + r.Int32N(8)}
		c := &cluster{t: t, r: r, granted: map[types.UID]bool{}, limits: queue.Limits{Runs: 1 + r.Int32N(6), Workers: 8 + r.Int32N(20), Of: func(string) queue.Share { return share }}}
		for i := range runs {
			c.stored = append(c.stored, queue.Run{
				UID: types.UID(fmt.Sprint(i)), Namespace: fmt.Sprint("team-", r.IntN(4)), Name: fmt.Sprint(i),
				Priority: r.Int32N(3), Workers: 1 + r.Int32N(8), Created: noon.Add(time.Duration(r.IntN(20)) * time.Second),
			})
		}
		for n := 0; n < 100_000 && c.ended < runs; n++ {
			c.step()
		}
		if c.ended != runs {
			t.Fatalf("seed %d: %d of %d runs have ended; left: %+v", seed, c.ended, runs, c.stored)
		}
	}
}
