package resultkeeper

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/sink"
)

const (
	// attemptsAtOnce is how many runs are archived at the same time, and how many verdicts
	// are announced. An archive holds the LoadTest and one ConfigMap in memory, 10 MB at
	// most: 50 runs that finish at once are done in seconds, if the store takes one in
	// 0.1 s.
	attemptsAtOnce = 4
	// archiveWithin and announceWithin bound an attempt.
	archiveWithin  = time.Minute
	announceWithin = 20 * time.Second
)

// Kind is what is done with the results of a finished run.
type Kind string

const (
	// Archive keeps the results.
	Archive Kind = "Archive"
	// Announcement sends the verdict to the webhook.
	Announcement Kind = "Announcement"
)

// Kinds are all of them.
var Kinds = []Kind{Archive, Announcement}

// Folders are those of the operator's pod.
type Folders struct {
	// Keys has the keys of the object store and of the webhook, Results is the volume.
	Keys, Results string
}

// Config is what a Keeper needs.
type Config struct {
	// Reader reads past the cache, which has no results of runs that have finished.
	Reader  client.Reader
	Clock   clock.PassiveClock
	Folders Folders
	// Enqueue asks for a pass over each of these LoadTests: over one, after each attempt.
	Enqueue func([]types.NamespacedName)
	// Tried is told of each attempt; it may be nil.
	Tried func(kind Kind, done bool)
}

// Keeper makes the attempts to keep results and to announce verdicts, beside the passes.
// What it has in memory can be lost: another process makes an attempt again, which changes
// nothing. A nil *Keeper keeps nothing.
type Keeper struct {
	Config
	ctx    context.Context
	places map[Kind]chan struct{}

	mu sync.Mutex
	of map[types.UID]map[Kind]lifecycle.Effort
}

// New returns a Keeper whose attempts end with ctx.
func New(ctx context.Context, c Config) *Keeper {
	k := &Keeper{Config: c, ctx: ctx, places: map[Kind]chan struct{}{}, of: map[types.UID]map[Kind]lifecycle.Effort{}}
	for _, kind := range Kinds {
		k.places[kind] = make(chan struct{}, attemptsAtOnce)
	}
	return k
}

// efforts are those of a run so far.
func (k *Keeper) efforts(run types.UID) (archive, announce lifecycle.Effort) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.of[run][Archive], k.of[run][Announcement]
}

// Forget drops what is known of a run.
func (k *Keeper) Forget(run types.UID) {
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
func (k *Keeper) begin(run types.UID, name types.NamespacedName, kind Kind, within time.Duration, try attempt) {
	if !k.take(run, kind) {
		return
	}
	go func() {
		select {
		case k.places[kind] <- struct{}{}:
		case <-k.ctx.Done():
			return
		}
		defer func() { <-k.places[kind] }()
		ctx, cancel := context.WithTimeout(k.ctx, within)
		defer cancel()
		done, err := protected(ctx, try)
		k.ended(run, kind, done, err)
		k.Enqueue([]types.NamespacedName{name})
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
func (k *Keeper) take(run types.UID, kind Kind) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.of[run] == nil {
		k.of[run] = map[Kind]lifecycle.Effort{}
	}
	e := k.of[run][kind]
	if e.UnderWay {
		return false
	}
	e.UnderWay = true
	k.of[run][kind] = e
	return true
}

// ended notes what came of an attempt. The LoadTest may be gone meanwhile.
func (k *Keeper) ended(run types.UID, kind Kind, done string, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	found := k.of[run]
	if found == nil {
		return
	}
	e := found[kind]
	e.UnderWay, e.Done, e.Failed = false, done, ""
	e.Attempts++
	e.At = k.Clock.Now()
	if err != nil {
		e.Done, e.Failed = "", sink.Explain(err)
	}
	found[kind] = e
}
