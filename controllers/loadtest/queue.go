package loadtest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/queue"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
)

// line is the queue as this process keeps it. The zero value is ready.
type line struct {
	// mu is held while the LoadTests are read as well: what is read must be no older than
	// what the ledger has.
	mu     sync.Mutex
	ledger queue.Ledger
	// needs are how many workers the runs need that wait, each from its first pass on:
	// some specs take long to plan.
	needs   map[types.UID]int32
	waiting int
}

// place is where a run stands in the queue that is to begin; nil: it is not to begin.
// Others that may begin are looked at as well. The policy is that of the pass: a run that one
// policy holds has no place, and would begin without one by another.
func (r *Reconciler) place(ctx context.Context, lt *v1beta1.LoadTest, p *policy.Policy, now time.Time) (*queue.Place, error) {
	rules := rulesOf(p, now)
	if rules.stateOf(lt) != queue.Waiting || isLoad(lt) {
		return nil, nil
	}
	workers := plan.Workers(&lt.Spec)
	r.line.mu.Lock()
	defer r.line.mu.Unlock()
	return r.admit(ctx, lt, workers, rules)
}

// placeAgain is the place of a run that waits, of which the cache has what the queue reads;
// nil: it is not known, or it is not to begin any more, as when it needs more workers than the
// administrator allows by now: no other would begin until it was refused.
func (r *Reconciler) placeAgain(ctx context.Context, lt *v1beta1.LoadTest, p *policy.Policy, now time.Time) (*queue.Place, error) {
	rules := rulesOf(p, now)
	r.line.mu.Lock()
	defer r.line.mu.Unlock()
	workers, known := r.line.needs[lt.UID]
	if most := rules.of(lt.Namespace).Limits.Workers; !known || rules.stateOf(lt) != queue.Waiting || most > 0 && workers > most {
		return nil, nil
	}
	return r.admit(ctx, lt, workers, rules)
}

// admit puts a run into its place.
func (r *Reconciler) admit(ctx context.Context, lt *v1beta1.LoadTest, workers int32, rules *rules) (*queue.Place, error) {
	runs, err := r.unfinished(ctx, rules)
	if err != nil {
		return nil, err
	}
	place, line := r.line.ledger.Admit(lt.UID, r.line.with(runs, lt, workers, rules), rules.limits())
	r.wake(line, lt.UID)
	return &place, nil
}

// isAwaited says whether another run waits for the place of one whose workers do not become ready.
func (r *Reconciler) isAwaited(ctx context.Context, lt *v1beta1.LoadTest, p *policy.Policy, now time.Time) (bool, error) {
	if isLoad(lt) || !lifecycle.MayGiveWay(lt, now) {
		return false, nil
	}
	r.line.mu.Lock()
	defer r.line.mu.Unlock()
	rules := rulesOf(p, now)
	runs, err := r.unfinished(ctx, rules)
	if err != nil {
		return false, err
	}
	return r.line.ledger.Line(runs, rules.limits()).WaitsFor(lt.Namespace), nil
}

// leaves says whether a run is over, or does not begin although it may: others may begin
// in its place.
func leaves(lt *v1beta1.LoadTest, seen lifecycle.Observed, d lifecycle.Decision) bool {
	waits := seen.Place != nil && !seen.Place.Begins
	return lifecycle.Finished(lt) || d.Status.StartTime == nil && !waits
}

// settle takes back the place of a run that leaves, and looks at those that may begin.
func (r *Reconciler) settle(ctx context.Context, uid types.UID, p *policy.Policy, now time.Time) error {
	r.line.mu.Lock()
	defer r.line.mu.Unlock()
	if withdrawn := r.line.ledger.Withdraw(uid); !withdrawn && r.line.waiting == 0 {
		return nil
	}
	rules := rulesOf(p, now)
	runs, err := r.unfinished(ctx, rules)
	if err != nil {
		return err
	}
	r.wake(r.line.ledger.Line(runs, rules.limits()), uid)
	return nil
}

// wake enqueues the runs that may begin now.
func (r *Reconciler) wake(line *queue.Line, but types.UID) {
	r.line.waiting = line.Waiting()
	r.Metrics.queued(r.line.waiting)
	var names []types.NamespacedName
	for _, run := range line.Begin() {
		if run.UID != but {
			names = append(names, types.NamespacedName{Namespace: run.Namespace, Name: run.Name})
		}
	}
	r.Runs.Enqueue(names)
}

// unfinished are the LoadTests that have not ended.
func (r *Reconciler) unfinished(ctx context.Context, rules *rules) ([]queue.Run, error) {
	var list v1beta1.LoadTestList
	if err := r.Client.List(ctx, &list, append([]client.ListOption{client.UnsafeDisableDeepCopy}, r.listUnfinished...)...); err != nil {
		return nil, fmt.Errorf("list the LoadTests that have not ended: %w", err)
	}
	var runs []queue.Run
	needs, loads := map[types.UID]int32{}, loadsWithPlace(list.Items)
	for i := range list.Items {
		lt := &list.Items[i]
		if !isUnderWay(lt) || isLoad(lt) && (lt.Status.StartTime == nil || loads[string(lt.UID)]) {
			continue
		}
		if n, ok := r.line.needs[lt.UID]; ok {
			needs[lt.UID] = n
		}
		runs = append(runs, r.line.run(lt, rules))
	}
	r.line.needs = needs
	return runs, nil
}

// loadsWithPlace are the UIDs of the LoadTests that have the place of the LoadTest whose loads they carry out. Any other with
// such an owner began by itself, and was given the owner later: its author may write any owner into it.
func loadsWithPlace(list []v1beta1.LoadTest) map[string]bool {
	loads := map[string]bool{}
	for i := range list {
		if !isUnderWay(&list[i]) {
			continue
		}
		for _, l := range list[i].Status.Loads {
			loads[l.UID] = true
		}
	}
	return loads
}

func isUnderWay(lt *v1beta1.LoadTest) bool {
	return !lifecycle.Finished(lt) && lt.DeletionTimestamp.IsZero()
}

// run is what the queue reads of a LoadTest.
func (l *line) run(lt *v1beta1.LoadTest, rules *rules) queue.Run {
	run := queue.Run{
		UID: lt.UID, Namespace: lt.Namespace, Name: lt.Name, Created: lt.CreationTimestamp.Time,
		State: rules.stateOf(lt), Workers: lt.Status.Workers.Desired,
	}
	if run.State == queue.Waiting {
		run.Workers = max(l.needs[lt.UID], 1)
		run.GaveWay = lifecycle.LetsOthersPass(lt, rules.now)
		run.Priority, _ = rules.of(lt.Namespace).Priorities.Value(plan.PriorityClass(&lt.Spec))
	}
	return run
}

// with adds a LoadTest that was read anew, of which the cache may have only that it is
// held, or nothing yet.
func (l *line) with(runs []queue.Run, lt *v1beta1.LoadTest, workers int32, rules *rules) []queue.Run {
	l.needs[lt.UID] = workers
	at := slices.IndexFunc(runs, func(r queue.Run) bool { return r.UID == lt.UID })
	switch {
	case at < 0:
		return append(runs, l.run(lt, rules))
	case runs[at].State != queue.Begun:
		runs[at] = l.run(lt, rules)
	}
	return runs
}

// rules are the policy at an instant, by namespace.
type rules struct {
	policy *policy.Policy
	now    time.Time
	known  map[string]rulesOfNamespace
}

// rulesOfNamespace are the rules of one namespace, and whether they hold its runs: quiet hours take longer to look at
// than all else in the order of thousands of runs that wait.
type rulesOfNamespace struct {
	policy.Rules
	held bool
}

func rulesOf(p *policy.Policy, now time.Time) *rules {
	return &rules{policy: p, now: now, known: map[string]rulesOfNamespace{}}
}

// of are the rules of a namespace.
func (r *rules) of(namespace string) rulesOfNamespace {
	known, ok := r.known[namespace]
	if !ok {
		known.Rules = r.policy.For(namespace)
		known.held = known.Hold(r.now) != nil
		r.known[namespace] = known
	}
	return known
}

// stateOf is what a LoadTest that has not ended asks of the queue. One that the
// administrator holds keeps no other from beginning.
func (r *rules) stateOf(lt *v1beta1.LoadTest) queue.State {
	switch {
	case lt.Status.StartTime != nil || lifecycle.Finished(lt):
		return queue.Begun
	case lt.Spec.Suspend || lt.Spec.Terminate || r.of(lt.Namespace).held:
		return queue.Held
	}
	return queue.Waiting
}

// limits are those of the queue.
func (r *rules) limits() queue.Limits {
	cluster := r.policy.Cluster()
	return queue.Limits{Runs: cluster.Runs, Workers: cluster.Workers, Of: func(namespace string) queue.Share {
		l := r.of(namespace).Limits
		return queue.Share{Runs: l.Runs, Workers: l.WorkersAtOnce}
	}}
}

// isLoad says whether a LoadTest carries out a load of another, by its owner, which has the place of all its loads in
// the queue. One that only says so never begins; see loadsWithPlace for one that has begun before.
func isLoad(lt *v1beta1.LoadTest) bool { return lifecycle.ParentName(lt) != "" }

// unfinishedField is an index of the cache: the LoadTests that have not ended, but for loads that have not begun.
const unfinishedField, unfinishedYes = "unfinished", "yes"

// indexUnfinished are its values for an object.
func indexUnfinished(o client.Object) []string {
	if lt, ok := o.(*v1beta1.LoadTest); !ok || lifecycle.Finished(lt) || isLoad(lt) && lt.Status.StartTime == nil {
		return nil
	}
	return []string{unfinishedYes}
}
