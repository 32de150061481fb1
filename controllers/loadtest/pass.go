package loadtest

import (
	"context"
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/question"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/targetstate"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
)

// pass is one pass over one LoadTest: what its phases read and write.
type pass struct {
	*Reconciler
	// lt is the LoadTest as it was read, inForce the policy of the whole pass, whatever
	// changes meanwhile, and now its instant. No phase writes them.
	lt      *v1beta1.LoadTest
	inForce *policy.Policy
	now     time.Time
	// note is what earlier passes left, and knewJob that they knew of a Job in the way.
	note    *note
	knewJob bool

	// rules are those of the namespace, and seen is all that a decision needs beside the
	// LoadTest: observe writes both. decision is written by decide, and signed by store.
	rules    policy.Rules
	seen     lifecycle.Observed
	decision lifecycle.Decision
	// unapplied is why the decision could not be applied; the status is reported all the
	// same, as it is of what was observed.
	unapplied error
	// jobRefused says that the API server refused the Job in this pass.
	jobRefused bool
	// again is when the next pass is wanted if a phase ends this one; 0: when something
	// changes.
	again time.Duration
}

// phase is a part of a pass. It says whether the pass ends with it, without an error and
// before the phases after it.
type phase struct {
	name string
	run  func(*pass, context.Context) (ends bool, err error)
}

// phases are what a pass does, in this order. An error ends the pass.
var phases = []phase{
	{"observe", (*pass).observe},
	{"decide", (*pass).decide},
	{"leave", (*pass).leave},
	{"apply", (*pass).apply},
	{"look", (*pass).look},
	{"store", (*pass).store},
	{"report", (*pass).report},
	{"keep", (*pass).keep},
}

// carryOut makes a pass over a LoadTest.
func (r *Reconciler) carryOut(ctx context.Context, lt *v1beta1.LoadTest, inForce *policy.Policy, note *note) (ctrl.Result, error) {
	p := &pass{Reconciler: r, lt: lt, inForce: inForce, now: note.instant(lt, r.Clock), note: note, knewJob: note.jobExists}
	note.loadRefused = false
	for _, each := range phases {
		switch ends, err := each.run(p, ctx); {
		case err != nil:
			return ctrl.Result{}, err
		case ends:
			return ctrl.Result{RequeueAfter: p.again}, nil
		}
	}
	if p.hasMore() {
		return ctrl.Result{RequeueAfter: time.Millisecond}, nil // the next pass observes it
	}
	return ctrl.Result{RequeueAfter: p.decision.RequeueAfter}, nil
}

// goesOnWaiting is the pass over a run that goes on waiting in the queue, with what the cache has
// of it: it writes its place alone. waits is false if the run is to be looked at whole.
func (r *Reconciler) goesOnWaiting(ctx context.Context, lt *v1beta1.LoadTest, inForce *policy.Policy, note *note) (result ctrl.Result, waits bool, err error) {
	if !lt.DeletionTimestamp.IsZero() || !note.isOf(lt) || note.refusals.cause != nil || !lifecycle.IsQueued(lt) {
		return ctrl.Result{}, false, nil
	}
	p := &pass{Reconciler: r, lt: lt, inForce: inForce, now: r.Clock.Now(), note: note}
	place, err := p.placeAgain(ctx, p.lt, p.inForce, p.now)
	if err != nil || place == nil || place.Begins {
		return ctrl.Result{}, false, err
	}
	written := lifecycle.Written{At: p.note.written.At, Size: sizeInStore(p.lt)}
	p.decision = lifecycle.GoesOnWaiting(p.lt, *place, written, p.now)
	p.note.wakeAt = wakeAt(p.now, p.decision)
	if ends, err := p.report(ctx); ends || err != nil {
		return ctrl.Result{RequeueAfter: p.again}, true, err
	}
	return ctrl.Result{RequeueAfter: p.decision.RequeueAfter}, true, nil
}

// hasMore says whether the pass noted what the next one is to observe: a refusal, a Job in
// the way, or a reading of a target.
func (p *pass) hasMore() bool {
	return p.jobRefused || p.note.loadRefused || p.note.jobExists && !p.knewJob || p.decision.Look != nil
}

// decide decides what the run does next, or ends it as well as it can be ended.
func (p *pass) decide(context.Context) (ends bool, err error) {
	if cause := p.note.refusals.cause; cause != nil {
		p.decision = lifecycle.Abandon(p.lt, cause, p.seen, p.now)
		return false, nil
	}
	rules := p.rules
	rules.Workers.Release = p.Children().WorkerImage
	rules.Workers.OperatorsOwn = p.lt.Namespace == p.Namespace
	p.decision = lifecycle.Decide(p.lt, rules, p.seen, p.now)
	p.note.seconds = p.decision.Seconds
	return false, nil
}

// leave takes back the place of a run that leaves the queue, for others to begin.
func (p *pass) leave(ctx context.Context) (ends bool, err error) {
	if leaves(p.lt, p.seen, p.decision) {
		return false, p.settle(ctx, p.lt.UID, p.inForce, p.now)
	}
	return false, nil
}

// look reads what is behind the target of a step, and asks about it, for the next pass to see.
func (p *pass) look(ctx context.Context) (ends bool, err error) {
	if wanted := p.decision.Look; wanted != nil {
		p.note.lookups.pods = &targetstate.Seen{Look: *wanted, At: p.now} // a reading that panics is not made again
		usage := make(chan *targetstate.Usage, 1)
		go func() { usage <- p.usage(ctx, *wanted) }()
		p.note.lookups.pods = p.TargetPods.Read(ctx, p.lt, *wanted, p.now)
		p.note.lookups.pods.Usage = <-usage
	}
	if sample := p.decision.Sample; sample != nil {
		p.note.lookups.usage = p.TargetUsage.Continue(ctx, p.lt.Namespace, p.note.lookups.usage, *sample, p.now)
	}
	if asked := p.decision.Ask; asked != nil {
		p.ask(ctx, *asked)
	}
	return false, nil
}

// usage is what the pods used in a step that has ended; nil: it is not read.
func (p *pass) usage(ctx context.Context, wanted targetstate.Look) *targetstate.Usage {
	if env := p.lt.Status.Environment; env == nil || !env.Usage || wanted.Point != targetstate.After {
		return nil
	}
	return p.TargetUsage.Final(ctx, p.lt.Namespace, p.note.lookups.usage, wanted.Step)
}

// ask begins to ask about a step, once. The pass that sees the answers follows them.
func (p *pass) ask(ctx context.Context, asked question.Asked) {
	if of := p.note.lookups.asking; of != nil && of.step == asked.Step {
		return
	}
	of := &asking{step: asked.Step}
	p.note.lookups.asking = of
	to, name, ctx := p.inForce.Prometheus(), client.ObjectKeyFromObject(p.lt), context.WithoutCancel(ctx)
	go func() {
		of.answers.Store(p.Prometheus.Ask(ctx, to, asked))
		p.Runs.Enqueue([]types.NamespacedName{name})
	}()
}

// store stores the archive of a step. The status that names it must not be written
// before.
func (p *pass) store(ctx context.Context) (ends bool, err error) {
	wanted := p.decision.Store
	if wanted == nil {
		return false, nil
	}
	p.again, err = p.storeArchive(ctx, wanted)
	if p.again > 0 || err != nil {
		return true, errors.Join(p.unapplied, err)
	}
	p.note.archiving.sign(&p.decision.Status)
	return false, nil
}

// report writes the status, and notes what became of it.
func (p *pass) report(ctx context.Context) (ends bool, err error) {
	err = p.writeStatus(ctx)
	refusals := &p.note.refusals
	if refusal, ok := refusedBy(err, p.now); ok {
		p.Metrics.refused(refusedStatus)
		refusals.statusRefused(refusal, lifecycle.Finished(p.lt))
	}
	if apierrors.IsConflict(err) && p.unapplied == nil {
		refusals.conflicts++
		p.again = onConflict(refusals.conflicts)
		return true, nil
	}
	if err := errors.Join(p.unapplied, err); err != nil {
		return false, err
	}
	refusals.passed()
	return false, nil
}

// keep begins what is to be done with the results of a finished run, beside the passes.
func (p *pass) keep(ctx context.Context) (ends bool, err error) {
	p.Keeper.Keep(ctx, p.lt, p.decision, p.inForce)
	return false, nil
}
