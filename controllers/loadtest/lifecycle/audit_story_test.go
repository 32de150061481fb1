package lifecycle_test

import (
	"maps"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
)

// storage is what a simulated target has of the requests that it acknowledged.
type storage struct {
	stored int64
	// hidden is the part that it does not tell of, and problem why it tells nothing.
	hidden  int64
	problem string
	// restless has the number change with each reading.
	restless bool
}

const (
	filled    = 60 // before the run
	readEvery = 500 * time.Millisecond
)

// tell is what the target says of itself.
func (s *storage) tell() exchange.Reading {
	if s.problem != "" {
		return exchange.Reading{Problem: s.problem}
	}
	if s.restless {
		s.stored++
	}
	return exchange.Reading{Read: true, Value: filled + s.stored - s.hidden}
}

// readNumbers has a worker read in a round what the target says.
func (w *simulation) readNumbers(i int, x *worker, round int32) {
	if x.round = round; round == 0 {
		x.Readings = nil
		return
	}
	last, since := exchange.Reading{}, time.Time{}
	var read func()
	read = func() {
		if w.workers[i] != x || x.round != round || !x.Connected || x.Pod != exchange.PodRunning {
			return
		}
		now := w.target.tell()
		if now != last {
			last, since = now, w.now
		}
		now.Unchanged = w.now.Sub(since)
		x.Readings = nil
		for range w.lt.Status.Audits {
			x.Readings = append(x.Readings, now)
		}
		w.in(readEvery, read)
	}
	w.in(readEvery, read)
}

// audit has the run compare what is stored.
func audit(w *simulation) {
	w.lt.Spec.Requests[0].Name = "create"
	w.lt.Spec.Audits = []v1alpha1.Audit{{Name: "links", Stored: &v1alpha1.Stored{
		Read: &v1alpha1.Query{Path: "/stats"}, Value: ".links", Requests: []string{"create"},
	}}}
}

// afterTheSteps is when the numbers are read for the second time.
const afterTheSteps = 15 * time.Second

// auditStories are runs whose numbers are read, from begin to end.
var auditStories = map[string]func(*simulation){
	"audit-passes":              func(*simulation) {},
	"audit-finds-lost-writes":   func(w *simulation) { w.in(6*time.Second, func() { w.target.hidden = 7 }) },
	"audit-finds-double-writes": func(w *simulation) { w.in(6*time.Second, func() { w.target.stored += 7 }) },
	"audit-waits-for-a-queue": func(w *simulation) {
		w.in(7*time.Second, func() { w.target.hidden = 40 })
		w.in(afterTheSteps+20*time.Second, func() { w.target.hidden = 0 })
	},
	"audit-finds-no-number": func(w *simulation) { w.target.problem = "GET /stats: status 404" },
	"audit-of-a-restless-number": func(w *simulation) {
		w.in(afterTheSteps, func() { w.target.restless = true })
	},
	"audit-is-read-by-another-worker": func(w *simulation) {
		w.in(afterTheSteps, func() { w.end(w.workers[0], "OOMKilled, exit code 137") })
	},
	"audit-has-no-worker-left": func(w *simulation) {
		w.in(afterTheSteps, func() {
			for _, x := range w.workers {
				w.end(x, "OOMKilled, exit code 137")
			}
		})
	},
	"audit-after-a-worker-died":   func(w *simulation) { w.workers[1].diesIn = 1500 * time.Millisecond },
	"audit-of-requests-in-flight": func(w *simulation) { w.inFlight = 5; w.workers[1].diesIn = 1500 * time.Millisecond },
	"audit-is-terminated":         func(w *simulation) { w.in(afterTheSteps, func() { w.lt.Spec.Terminate = true }) },
	"audit-is-suspended-at-first": func(w *simulation) {
		w.in(4*time.Second, func() { w.lt.Spec.Suspend = true })
		w.in(30*time.Second, func() { w.lt.Spec.Suspend = false })
	},
	"audit-after-an-abort": func(w *simulation) {
		w.latency = 300 * time.Millisecond
		aborts(w)
	},
	"audit-after-a-breach": func(w *simulation) {
		w.lt.Spec.Ladder.StopOnBreach = true
		w.latency = 300 * time.Millisecond
		w.in(6*time.Second, func() { w.target.hidden = 7 })
	},
}

// allStories are those with audits and those without.
func allStories() map[string]func(*simulation) {
	all := maps.Clone(stories)
	maps.Copy(all, lossStories)
	for name, script := range auditStories {
		all[name] = func(w *simulation) {
			audit(w)
			script(w)
		}
	}
	return all
}
