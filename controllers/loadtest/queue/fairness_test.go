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

// crowd is a day of a cluster with the default limits. The first namespace does its worst: it
// made a thousand runs before all others, each as large and as long as it may be. The last
// makes a small run every hour. All between have more to run than there is room for.
type crowd struct {
	limits queue.Limits
	ledger queue.Ledger
	r      *rand.Rand
	now    time.Duration
	runs   []queue.Run
	began  map[types.UID]time.Duration
	// passed is for how long the runs that gave way let others pass.
	passed map[types.UID]time.Duration
	ends   map[types.UID]time.Duration
	length map[types.UID]time.Duration
	n      int
	// neverStarts says that the workers of the first namespace never become ready.
	neverStarts bool
	// used is the time of workers that each namespace had; worst is the longest wait of the
	// last one's run.
	used  map[string]time.Duration
	worst time.Duration
}

const (
	crowdNamespaces = 20
	hostile, small  = "team-00", "team-19"
	longestOfOthers = 30 * time.Minute
	crowdLasts      = 24 * time.Hour
)

func newCrowd(seed uint64, limits queue.Limits) *crowd {
	c := &crowd{
		limits: limits, r: rand.New(rand.NewPCG(seed, 7)),
		began: map[types.UID]time.Duration{}, passed: map[types.UID]time.Duration{}, ends: map[types.UID]time.Duration{}, length: map[types.UID]time.Duration{}, used: map[string]time.Duration{},
	}
	for range 1000 {
		c.add(hostile, 100, 24*time.Hour)
	}
	return c
}

// add makes a run, now.
func (c *crowd) add(namespace string, workers int32, length time.Duration) {
	c.n++
	uid := types.UID(fmt.Sprint(c.n))
	c.length[uid] = length
	c.runs = append(c.runs, queue.Run{UID: uid, Namespace: namespace, Name: string(uid), Workers: workers, Created: noon.Add(c.now)})
}

// fill keeps three runs of each of the others waiting.
func (c *crowd) fill() {
	waiting := map[string]int{}
	for i := range c.runs {
		if c.runs[i].State == queue.Waiting {
			waiting[c.runs[i].Namespace]++
		}
	}
	for n := 1; n < crowdNamespaces-1; n++ {
		for name := fmt.Sprintf("team-%02d", n); waiting[name] < 3; waiting[name]++ {
			c.add(name, 1+c.r.Int32N(100), 5*time.Minute+time.Duration(c.r.Int64N(int64(longestOfOthers-5*time.Minute))))
		}
	}
}

// tick lets a minute pass.
func (c *crowd) tick() {
	if c.now%time.Hour == 30*time.Minute {
		c.add(small, 1, 5*time.Minute)
	}
	c.fill()
	c.giveWay()
	for _, may := range c.ledger.Line(c.runs, c.limits).Begin() {
		if place, _ := c.ledger.Admit(may.UID, c.runs, c.limits); !place.Begins {
			continue
		}
		r := find(c.runs, may.UID)
		r.State = queue.Begun
		c.began[r.UID], c.ends[r.UID] = c.now, c.now+c.length[r.UID]
		if r.Namespace == small {
			c.worst = max(c.worst, c.now-r.Created.Sub(noon))
		}
	}
	c.now += time.Minute
	for i := range c.runs {
		if r := &c.runs[i]; r.State == queue.Begun {
			c.used[r.Namespace] += time.Duration(r.Workers) * time.Minute
		} else if r.Namespace == small {
			c.worst = max(c.worst, c.now-r.Created.Sub(noon))
		}
	}
	c.runs = slices.DeleteFunc(c.runs, func(r queue.Run) bool { return r.State == queue.Begun && c.ends[r.UID] <= c.now })
}

// giveWay takes the runs back whose workers have not become ready in two minutes, while others wait.
func (c *crowd) giveWay() {
	if !c.neverStarts || !c.ledger.Line(c.runs, c.limits).WaitsFor(hostile) {
		return
	}
	for i := range c.runs {
		if r := &c.runs[i]; r.Namespace == hostile && r.State == queue.Begun && c.now-c.began[r.UID] >= 2*time.Minute {
			r.State, r.GaveWay = queue.Waiting, true
			c.passed[r.UID] += 2 * time.Minute
			c.ends[r.UID] = c.now + c.passed[r.UID]
		} else if r.GaveWay && r.State == queue.Waiting && c.now >= c.ends[r.UID] {
			r.GaveWay = false
		}
	}
}

// share is the least that one of the others had, of an equal part of all that they had.
func (c *crowd) share() float64 {
	all, least := time.Duration(0), time.Duration(1<<62)
	for n := 1; n < crowdNamespaces-1; n++ {
		used := c.used[fmt.Sprintf("team-%02d", n)]
		all, least = all+used, min(least, used)
	}
	return float64(least) / (float64(all) / (crowdNamespaces - 2))
}

// A namespace that does its worst keeps no more from the others than its share, and a small run of
// a namespace that has nothing under way begins when the next run of any other ends: in this
// cluster, one does nearly every minute.
func TestANamespaceThatDoesItsWorstHoldsUpNoOther(t *testing.T) {
	for seed := range uint64(5) {
		dayOf(t, newCrowd(seed, defaults), 0.5)
	}
}

// Runs whose workers never become ready keep less still.
func TestRunsThatCannotStartHoldUpNoOther(t *testing.T) {
	for seed := range uint64(1) {
		c := newCrowd(seed, defaults)
		c.neverStarts = true
		dayOf(t, c, 0.05)
	}
}

// defaults are the limits without a configuration.
var defaults = queue.Limits{Runs: 50, Workers: 1000, Of: func(string) queue.Share { return queue.Share{Runs: 10, Workers: 500} }}

// dayOf lets a day pass. The first namespace is to have at most that part of all workers.
func dayOf(t *testing.T, c *crowd, most float64) {
	t.Helper()
	const longest = 5 * time.Minute
	for c.now < crowdLasts {
		c.tick()
	}
	kept := float64(c.used[hostile]) / float64(crowdLasts) / 1000
	t.Logf("queue: namespaces=%d worst-wait=%v share-of-fair=%.2f hostile-share=%.2f hostile-starts=%t", crowdNamespaces, c.worst, c.share(), kept, !c.neverStarts)
	if c.worst > longest {
		t.Errorf("a run of one worker waited %v, want at most %v", c.worst, longest)
	}
	if c.share() < 0.8 || kept > most {
		t.Errorf("the least of the others had %.2f of an equal part, and the hostile one %.2f of all, want at most %.2f", c.share(), kept, most)
	}
}
