package world

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
)

const (
	// attemptTakes is the time that an attempt to archive or to announce takes. It succeeds
	// after half of it, which its operator does not know before the end.
	attemptTakes = 600 * time.Millisecond
	// waitForResults is the most that a LoadTest is kept for its results beyond its time to
	// live. triedAgain is the longest time between two attempts, however many have failed.
	waitForResults = time.Hour
	triedAgain     = 20 * time.Minute
)

// destination is where results are archived and verdicts are announced.
type destination struct {
	archived, announced bool
	// noArchive and noVerdict are the instants until which it takes none.
	noArchive, noVerdict time.Time
}

// wanted is what is to become of the results of the run.
func (w *World) wanted() policy.Results {
	if !w.keeps {
		return policy.Results{}
	}
	return policy.Results{Archived: true, Announced: true, Wait: waitForResults}
}

// keeping is how far this process is with the results of a run that has finished.
func (o *operator) keeping() lifecycle.Keeping {
	if !lifecycle.Finished(o.cache.lt) {
		return lifecycle.Keeping{}
	}
	return lifecycle.Keeping{Wanted: o.world.wanted(), Archive: o.archive, Announce: o.announce}
}

// keep begins the attempts for which a decision asks.
func (o *operator) keep(k lifecycle.Keep) {
	to := &o.world.destination
	if k.Archive {
		o.attempt(&o.archive, &to.archived, to.noArchive)
	}
	if k.Announce {
		o.attempt(&o.announce, &to.announced, to.noVerdict)
	}
}

// attempt begins an attempt that fails until the destination takes what it is sent. One that
// is under way goes on.
func (o *operator) attempt(e *lifecycle.Effort, done *bool, away time.Time) {
	if e.UnderWay {
		return
	}
	e.UnderWay = true
	succeeds := false
	o.world.After(attemptTakes/2, func() {
		if o.alive && !o.world.now.Before(away) {
			succeeds, *done = true, true
		}
	})
	o.world.After(attemptTakes, func() {
		if !o.alive {
			return
		}
		e.UnderWay, e.At, e.Done, e.Failed = false, o.now(), "It is kept.", ""
		if e.Attempts++; !succeeds {
			e.Done, e.Failed = "", "the store does not answer"
		}
		o.enqueue()
	})
}

// checkKept compares what a status says of its results with what became of them.
func (w *World) checkKept(s *v1beta1.LoadTestStatus) {
	for kind, done := range map[string]bool{v1beta1.ConditionArchived: w.destination.archived, v1beta1.ConditionAnnounced: w.destination.announced} {
		if meta.IsStatusConditionTrue(s.Conditions, kind) && !done {
			w.violated(resultsKept, "the status says %s", kind)
		}
	}
}

// checkDeleted holds an operator that deletes the LoadTest to what must be true then.
func (w *World) checkDeleted(o *operator, d lifecycle.Decision) {
	lt := w.api.lt
	if !lifecycle.Finished(lt) {
		w.violated(terminalOnce, "a run is deleted that has not ended")
		return
	}
	ttl := time.Duration(*lt.Spec.TTLSecondsAfterFinished) * time.Second
	took, wanted, kept := o.now().Sub(lt.Status.CompletionTime.Time), w.wanted(), w.destination.archived
	if !d.Unkept && wanted.Archived && !kept {
		w.violated(resultsKept, "the results are deleted without having been kept, and nothing says so")
	}
	if answering := w.now.Sub(w.destination.noArchive); d.Unkept && answering > triedAgain+w.slack {
		w.violated(resultsKept, "the results are deleted without having been kept, though the store has answered for %v", answering)
	}
	if kept && w.destination.announced {
		wanted.Wait = 0
	}
	if took < ttl+wanted.Wait {
		w.violated(resultsKept, "%v after its end, archived: %t, announced: %t", took, kept, w.destination.announced)
	}
}

// checkGone holds a world in which nothing happens any more to its end.
func (w *World) checkGone() {
	if !w.api.deleted {
		w.violated(goesInTime, "nothing happens after %.0fs", w.now.Sub(Began).Seconds())
	}
}
