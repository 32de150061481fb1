package local

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
	"github.com/loadtest-dev/loadtest-operator/measure/archive"
)

// parentPoll is the interval at which a load looks at what the LoadTest that has it decides. Loads are
// told a second before they begin.
const parentPoll = 50 * time.Millisecond

// ErrResultsOfLoads refuses a place for the results of single requests of several loads.
var ErrResultsOfLoads = errors.New("--results: a LoadTest with spec.loads has no such file; run one with the steps of one load")

// RunLoads carries a LoadTest with spec.loads to its end, and returns it with the LoadTests of its loads,
// which have the results by step and request. Each has workers of its own. It is as Run otherwise.
func RunLoads(ctx context.Context, lt *v1beta1.LoadTest, c Config) (*v1beta1.LoadTest, []*v1beta1.LoadTest, error) {
	if c.Results != nil {
		return nil, nil, ErrResultsOfLoads
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	g := &group{Config: c, test: lt.DeepCopy(), seen: map[string]*v1beta1.LoadTest{}, changed: make(chan struct{}, 1), fail: cancel}
	err := g.untilFinished(ctx)
	if err != nil {
		cancel(err)
	}
	g.running.Wait()
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
		err = cause
	}
	var loads []*v1beta1.LoadTest
	for _, l := range g.test.Status.Loads {
		if one := g.seen[l.Test]; one != nil {
			loads = append(loads, one)
		}
	}
	return g.test, loads, err
}

// group is a LoadTest whose loads run side by side.
type group struct {
	Config
	running sync.WaitGroup
	changed chan struct{}
	fail    context.CancelCauseFunc

	// keeping is held while Keep is called.
	keeping sync.Mutex
	// mu guards what the goroutines of the loads read and write.
	mu   sync.Mutex
	test *v1beta1.LoadTest
	// seen are the LoadTests of the loads, as they were last shown.
	seen map[string]*v1beta1.LoadTest
}

// untilFinished is the loop of observe, decide and apply of the LoadTest that has the loads.
func (g *group) untilFinished(ctx context.Context) error {
	ticker := time.NewTicker(refresh)
	defer ticker.Stop()
	for {
		if isTakenUp(g.test) {
			g.Show(g.test.DeepCopy())
		}
		finished := meta.IsStatusConditionTrue(g.test.Status.Conditions, v1beta1.ConditionFinished)
		changed, wake, err := g.pass(ctx)
		if err != nil || finished {
			return err
		}
		if !changed {
			g.await(ctx, wake, ticker.C)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// pass decides once. wake is the time to the next known instant; 0: there is none.
func (g *group) pass(ctx context.Context) (changed bool, wake time.Duration, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	var seen lifecycle.Observed
	for _, l := range g.test.Status.Loads {
		one := g.seen[l.Test]
		seen.Loads = append(seen.Loads, lifecycle.LoadSeen{Test: one, Whole: one != nil && lifecycle.Finished(one)})
	}
	now := time.Now()
	d := lifecycle.Decide(g.test, everything, seen, now)
	for _, one := range d.CreateLoads {
		one.CreationTimestamp = metav1.NewTime(now)
		one.UID = types.UID(fmt.Sprintf("%s-%s", g.test.UID, one.Name))
		for i := range d.Status.Loads {
			if d.Status.Loads[i].Test == one.Name {
				d.Status.Loads[i].UID = string(one.UID)
			}
		}
		g.begin(ctx, one)
	}
	if equality.Semantic.DeepEqual(g.test.Status, d.Status) {
		return false, d.RequeueAfter, nil
	}
	status, err := stored(d.Status)
	if err != nil {
		return false, 0, fmt.Errorf("store status: %w", err)
	}
	g.test.Status = status
	return true, 0, nil
}

// begin carries a load out beside the others. The caller holds the lock.
func (g *group) begin(ctx context.Context, one *v1beta1.LoadTest) {
	g.seen[one.Name] = one
	c := g.Config
	c.Show, c.Terminate = g.see, nil
	if g.Keep != nil {
		c.Keep = g.keep
	}
	c.parent = func(lt *v1beta1.LoadTest) *lifecycle.Parent {
		g.mu.Lock()
		defer g.mu.Unlock()
		return lifecycle.ParentOf(lt, g.test)
	}
	g.running.Go(func() {
		if _, err := Run(ctx, one, c); err != nil && ctx.Err() == nil {
			g.fail(fmt.Errorf("load %s: %w", one.Name, err))
		}
	})
}

// keep hands over the results of a step of a load.
func (g *group) keep(step *archive.Step) {
	g.keeping.Lock()
	defer g.keeping.Unlock()
	g.Keep(step)
}

// see takes the state of a load.
func (g *group) see(lt *v1beta1.LoadTest) {
	if g.isNew(lt) && g.ShowLoad != nil {
		g.ShowLoad(lt)
	}
}

// isNew notes the state of a load, and says whether it has changed.
func (g *group) isNew(lt *v1beta1.LoadTest) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if before := g.seen[lt.Name]; before != nil && equality.Semantic.DeepEqual(before.Status, lt.Status) {
		return false
	}
	g.seen[lt.Name] = lt.DeepCopy()
	select {
	case g.changed <- struct{}{}:
	default:
	}
	return true
}

// await waits for a reason to decide again.
func (g *group) await(ctx context.Context, wake time.Duration, refresh <-chan time.Time) {
	var due <-chan time.Time
	if wake > 0 {
		timer := time.NewTimer(wake)
		defer timer.Stop()
		due = timer.C
	}
	select {
	case <-ctx.Done():
	case <-due:
	case <-g.changed:
	case <-refresh:
	case <-g.Terminate:
		g.Terminate = nil // a channel that is closed is ready for ever
		g.mu.Lock()
		defer g.mu.Unlock()
		g.test.Spec.Terminate = true
		g.test.Generation++
	}
}
