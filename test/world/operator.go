package world

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/verdict"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/queue"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/targetstate"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

const (
	firstRetry = 5 * time.Millisecond
	lastRetry  = 5 * time.Second
	// conflictRetry is when a pass whose cache was behind is tried again.
	conflictRetry = 100 * time.Millisecond
	// storeRetry is when an archive that was refused is tried again, maxStoreTries how
	// often.
	storeRetry    = time.Second
	maxStoreTries = 3
)

// operator is a process of the operator that reconciles and serves workers.
type operator struct {
	world *World
	name  string
	alive bool
	// skew is how far its clock is ahead.
	skew time.Duration
	// lag is how far its watch is behind.
	lag   time.Duration
	cache state
	// podsBehind is until when its watches of the Job and the pods bring nothing.
	podsBehind time.Time
	// policy is the administrator's, as this process has read it.
	policy *policy.Policy

	queued   bool      // a pass is due
	wake     time.Time // by the world's clock; zero: none is asked for
	wakes    int
	failures int
	// storing is the step whose archive was refused, unstored the archive that was given
	// up.
	storing, storeTries int
	unstored            *lifecycle.Unstored
	// looked is the latest reading of the target.
	looked *targetstate.Seen
	// passed is when the run was last looked at, behind since when a pass would have
	// something to do.
	passed, behind time.Time
	// written is the latest write of the status, and unread its version; 0: it was read back.
	// readBack is the longest time that this took.
	written  lifecycle.Written
	unread   int
	readBack time.Duration
	// seconds are what the decision before returned.
	seconds verdict.Seconds
	ledger  queue.Ledger
	// archive and announce are its attempts.
	archive, announce lifecycle.Effort
	coordinator
}

// startOperator starts a process, which reads everything and serves workers from now on.
func (w *World) startOperator(skew time.Duration) {
	w.agents++
	o := &operator{world: w, name: fmt.Sprintf("operator %d", w.agents), alive: true, skew: skew}
	o.coordinator = coordinator{seats: make([]seat, len(w.Workers))}
	w.all = append(w.all, o)
	w.leader = o
	if w.agents > 1 {
		w.say("%s starts, its clock ahead by %v", o.name, skew)
	}
	if !w.instant {
		o.list()
	}
}

// list fills the cache, once the API server answers.
func (o *operator) list() {
	if away := o.world.apiAway.Sub(o.world.now); away > 0 {
		o.world.After(away, o.list)
		return
	}
	o.cache, o.policy = o.world.api.copy(), o.world.policy
	o.enqueue()
	o.settle(o.cache.lt.UID)
}

// rules are the rules for the run's namespace.
func (o *operator) rules() policy.Rules {
	if o.policy == nil {
		return policy.Rules{}
	}
	return o.policy.For(o.world.api.lt.Namespace)
}

// Configure replaces the administrator's configuration, at once.
func (w *World) Configure(document string) {
	p, err := policy.Load([]byte(document))
	if err != nil {
		panic(err)
	}
	w.policy, w.leader.policy = p, p
}

// configures gives every operator another configuration, when the watch has brought it.
func (w *World) configures(what, document string) {
	p, err := policy.Load([]byte(document))
	if err != nil {
		panic(err)
	}
	w.say("the configuration: %s", what)
	w.policy = p
	for _, o := range w.all {
		w.After(max(o.lag, w.apiAway.Sub(w.now)), func() {
			if o.alive && o.cache.lt != nil && w.policy == p {
				o.policy = p
				o.enqueue()
			}
		})
	}
}

// dies ends the process with all that it had in memory. Workers notice after a while.
func (o *operator) dies(noticed time.Duration) {
	w := o.world
	w.say("%s dies", o.name)
	o.alive = false
	if w.leader == o {
		w.leader = nil
	}
	for _, x := range w.Workers {
		if x.session == o {
			x.loseSession(noticed)
		}
	}
}

func (o *operator) now() time.Time { return o.world.now.Add(o.skew) }

// watch replaces the cache by that state, when the watch has brought it.
func (o *operator) watch(s state) {
	if !o.alive {
		return
	}
	lag := o.lag
	if away := o.world.apiAway.Sub(o.world.now); away > lag {
		lag = away
	}
	o.world.After(lag, func() {
		if !o.alive || s.revision <= o.cache.revision {
			return
		}
		before := o.cache
		o.cache = s
		if o.world.now.Before(o.podsBehind) {
			o.cache.job, o.cache.jobs, o.cache.pods = before.job, before.jobs, before.pods
		}
		if before.own != s.own {
			o.enqueue()
		}
		if !slices.Equal(before.others, s.others) {
			o.settle("")
		}
	})
}

// enqueue asks for a pass at once, together with whatever else asks for one.
func (o *operator) enqueue() {
	if o.queued || !o.alive || o.world.instant {
		return
	}
	o.queued = true
	o.world.After(0, o.pass)
}

// sleep asks for a pass after d, in place of the pass that was asked for before; 0: for none.
func (o *operator) sleep(d time.Duration) {
	o.wakes++
	o.wake = time.Time{}
	if d == 0 {
		return
	}
	o.wake = o.world.now.Add(d)
	if o.world.instant {
		return
	}
	mine := o.wakes
	o.world.After(d, func() {
		if o.wakes == mine {
			o.wake = time.Time{}
			o.enqueue()
		}
	})
}

// pass is one pass of the reconciler.
func (o *operator) pass() {
	o.queued = false
	if !o.alive || o.cache.lt == nil {
		return
	}
	lt, version := o.cache.lt.DeepCopy(), o.cache.version
	o.readsBack(version)
	seen := o.observe()
	seen.Place, seen.PlaceAwaited = o.place(), o.isAwaited()
	d := o.decide(lt, seen)
	o.seconds = d.Seconds
	o.leaves(seen, d)
	o.world.checkQueued(o, d)
	applied := o.apply(d)
	if d.Look != nil {
		o.looked = o.world.look(*d.Look, o.now())
	}
	if d.Delete && applied == nil {
		return
	}
	if d.Store != nil && !o.stores(d) {
		return
	}
	var reported error
	written := !unchanged(lt.Status, d.Status)
	if written {
		if reported = o.world.api.patchStatus(o, version, d.Status); reported == nil {
			o.wrote(d)
		}
	}
	o.world.states++
	switch err := errors.Join(applied, reported); {
	case err == nil:
		o.failures = 0
		o.keep(d.Keep)
		if d.Look != nil {
			d.RequeueAfter = time.Millisecond // the next pass reads what was found
		}
		o.sleep(d.RequeueAfter)
		o.world.checkWake(o, d, written)
	case errors.Is(reported, errConflict) && applied == nil:
		o.sleep(conflictRetry)
	default:
		o.sleep(o.retry(d.RequeueAfter))
	}
}

// readsBack notes how long it took until a write was read back, if that version is of it.
func (o *operator) readsBack(version int) {
	if o.unread > 0 && version == o.unread {
		o.readBack, o.unread = max(o.readBack, o.now().Sub(o.written.At)), 0
	}
}

// wrote notes a write of the status. A world without faults tells of it, and has no need to
// spare its store.
func (o *operator) wrote(d lifecycle.Decision) {
	if !o.world.instant {
		o.written, o.unread = lifecycle.Written{At: o.now()}, o.world.api.version
		return
	}
	if f := o.world.Wrote; f != nil {
		f(o.world.api.lt)
	}
	for _, e := range d.Events {
		kind := "Normal"
		if e.Warning {
			kind = "Warning"
		}
		o.world.say("event %s %s: %s", kind, e.Reason, e.Message)
	}
}

// decide is the decision of a pass. In some worlds, it is held to write to no input.
func (o *operator) decide(lt *v1beta1.LoadTest, seen lifecycle.Observed) lifecycle.Decision {
	rules, decide := o.rules(), o.world.Decide
	if !o.world.holdsInputs {
		return decide(lt, rules, seen, o.now())
	}
	before := same.Digest(lt, rules, seen)
	d := decide(lt, rules, seen, o.now())
	if same.Digest(lt, rules, seen) != before {
		o.world.violated(writesNoInput, "phase %s", lt.Status.Phase)
	}
	return d
}

// retry is when a pass that failed is tried again: the back-off grows, and the instant
// that the decision asked for is kept.
func (o *operator) retry(wake time.Duration) time.Duration {
	backoff := min(firstRetry<<min(o.failures, 20), lastRetry)
	o.failures++
	if wake > firstRetry {
		return min(backoff, wake)
	}
	return backoff
}

// stores stores the archive of a step, before the status that names it. If it is not, the
// pass ends, and comes again.
func (o *operator) stores(d lifecycle.Decision) bool {
	switch err := o.world.api.createResults(d.Store); {
	case errors.Is(err, errQuota):
		if o.storing != d.Store.Step {
			o.storing, o.storeTries = d.Store.Step, 0
		}
		if o.storeTries++; o.storeTries >= maxStoreTries {
			o.unstored = &lifecycle.Unstored{Step: d.Store.Step, Message: err.Error()}
		}
		o.sleep(storeRetry)
	case err != nil:
		o.sleep(o.retry(d.RequeueAfter))
	default:
		return true
	}
	return false
}

// apply carries a decision out.
func (o *operator) apply(d lifecycle.Decision) error {
	if d.Delete {
		if err := o.world.api.reachable(); err != nil {
			return err
		}
		o.world.checkDeleted(o, d)
		o.world.say("the LoadTest is deleted")
		o.world.api.deleted = true
		return nil
	}
	switch d.Job {
	case lifecycle.JobCreate:
		if err := o.world.api.createJob(o); err != nil {
			return err
		}
	case lifecycle.JobDelete:
		if err := o.world.api.deleteJob(o.cache.jobs); err != nil {
			return err
		}
	case lifecycle.JobKeep:
	}
	if d.Forget {
		o.forget()
		return nil
	}
	if s := &o.cache.lt.Status; s.StartTime != nil && len(s.Steps) > 0 && s.TargetURL != "" && !d.Undirected {
		o.direct(d.Directive)
	}
	return nil
}

// observe is what a pass reads: the cache, and the sessions.
func (o *operator) observe() lifecycle.Observed {
	seen := lifecycle.Observed{Job: o.cache.job, Since: o.since, From: o.from, Unstored: o.unstored, LooksAtTargets: o.world.looks, Looked: o.looked, Written: o.written, ReadBack: o.readBack, Seconds: o.seconds, TargetPort: o.world.Port, TargetProblem: o.world.NoPort, Keeping: o.keeping()}
	seen.Step = o.report(len(o.world.api.lt.Spec.Requests), len(o.world.api.lt.Spec.Journeys))
	if lifecycle.NeedsBaseline(o.cache.lt) {
		seen.Baseline = o.cache.baseline
		seen.BaselineAbsent = seen.Baseline == nil
	}
	start := o.directive.Start
	seen.Undirected = start == nil || start.Step != o.cache.lt.Status.CurrentStep
	for n := range o.cache.lt.Status.Workers.Desired {
		var x exchange.Worker
		if !o.since.IsZero() {
			x = o.coordinator.observe(int(n), o.world.Targets, len(o.cache.lt.Status.Audits))
		}
		p := o.cache.pods[n]
		x.Pod, x.PodEnding, x.PodReason, x.PodMessage = p.state, p.ending, p.reason, p.message
		if lingers := o.world.Workers[n].Lingers; !lingers && (p.state == exchange.PodAbsent || p.job != o.seats[n].job) {
			x.Connected, x.Ready, x.Reason, x.Message, x.Answers = false, false, "", "", 0
		}
		seen.Workers = append(seen.Workers, x)
	}
	return seen
}

// look reads the pod of the target, unless the API server is away.
func (w *World) look(l targetstate.Look, now time.Time) *targetstate.Seen {
	seen := &targetstate.Seen{Look: l, Service: "shortener", At: now}
	if w.now.Before(w.apiAway) {
		seen.Problem = "The API server does not answer."
		return seen
	}
	container := v1beta1.TargetContainer{Name: "app", Digest: w.digest}
	seen.Pods = []targetstate.Pod{{UID: w.digest, Containers: []targetstate.Container{{TargetContainer: container}}}}
	return seen
}
