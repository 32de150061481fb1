package loadtest

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/sink"
)

const (
	// keepsAtOnce is how many runs are archived at the same time, and how many verdicts
	// are announced. An archive holds the LoadTest and one ConfigMap in memory, 10 MB at
	// most: 50 runs that finish at once are done in seconds, if the store takes one in
	// 0.1 s.
	keepsAtOnce = 4
	// archiveWithin and announceWithin bound an attempt.
	archiveWithin  = time.Minute
	announceWithin = 20 * time.Second
)

// keep is what may be done with a finished run.
type keep int

const (
	keepArchive keep = iota
	keepAnnouncement
	keeps
)

// Keeper makes the attempts to keep results and to announce verdicts, beside the passes.
// What it has in memory can be lost: another process makes an attempt again, which changes
// nothing.
type Keeper struct {
	ctx    context.Context
	clock  clock.PassiveClock
	queue  func([]types.NamespacedName)
	places [keeps]chan struct{}

	mu sync.Mutex
	of map[types.UID]*[keeps]lifecycle.Effort
}

// NewKeeper returns a Keeper whose attempts end with ctx. After each it has the LoadTest
// reconciled by queue.
func NewKeeper(ctx context.Context, c clock.PassiveClock, queue func([]types.NamespacedName)) *Keeper {
	k := &Keeper{ctx: ctx, clock: c, queue: queue, of: map[types.UID]*[keeps]lifecycle.Effort{}}
	for i := range k.places {
		k.places[i] = make(chan struct{}, keepsAtOnce)
	}
	return k
}

// efforts are those of a run so far.
func (k *Keeper) efforts(run types.UID) (archive, announce lifecycle.Effort) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if found := k.of[run]; found != nil {
		return found[keepArchive], found[keepAnnouncement]
	}
	return archive, announce
}

// forget drops what is known of a run. A nil Keeper has nothing.
func (k *Keeper) forget(run types.UID) {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.of, run)
}

// attempt makes one in the background, unless one is under way. It returns a sentence of
// what was done.
type attempt func(context.Context) (done string, err error)

// begin starts an attempt, which waits until there is a place for it.
func (k *Keeper) begin(run types.UID, name types.NamespacedName, what keep, within time.Duration, try attempt) {
	if !k.take(run, what) {
		return
	}
	go func() {
		select {
		case k.places[what] <- struct{}{}:
		case <-k.ctx.Done():
			return
		}
		defer func() { <-k.places[what] }()
		ctx, cancel := context.WithTimeout(k.ctx, within)
		defer cancel()
		done, err := protected(ctx, try)
		k.ended(run, what, done, err)
		k.queue([]types.NamespacedName{name})
	}()
}

// protected makes an attempt that panics one that failed.
func protected(ctx context.Context, try attempt) (done string, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("panic: %v", cause)
		}
	}()
	return try(ctx)
}

// take notes that an attempt is under way; false: there is one already.
func (k *Keeper) take(run types.UID, what keep) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.of[run] == nil {
		k.of[run] = &[keeps]lifecycle.Effort{}
	}
	e := &k.of[run][what]
	if e.UnderWay {
		return false
	}
	e.UnderWay = true
	return true
}

// ended notes what came of an attempt. The LoadTest may be gone meanwhile.
func (k *Keeper) ended(run types.UID, what keep, done string, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	found := k.of[run]
	if found == nil {
		return
	}
	e := &found[what]
	e.UnderWay, e.Done, e.Failed = false, done, ""
	e.Attempts++
	e.At = k.clock.Now()
	if err != nil {
		e.Done, e.Failed = "", sink.Explain(err)
	}
}
