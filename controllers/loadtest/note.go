package loadtest

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/verdict"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
)

// note is what is kept in memory of a LoadTest from one pass to the next. All of it
// can be lost: a new operator comes to the same note by trying again.
type note struct {
	// uid and generation are those of the LoadTest, and of its spec, that it is about.
	uid        types.UID
	generation int64
	// wakeAt is the instant for which the latest decision asked; zero: none.
	wakeAt time.Time
	// seconds is what the latest decision keeps of a step that runs.
	seconds verdict.Seconds
	// jobExists says that there is a Job of the name, which the cache may not have.
	jobExists bool
	// written is the latest write of the status, and version that of the object after it,
	// until it is read back.
	written lifecycle.Written
	version string

	lookups   lookups
	archiving archiving
	refusals  refusals
}

// reset clears the note unless it is about this LoadTest and this generation of its spec.
func (n *note) reset(lt *v1beta1.LoadTest) {
	if !n.isOf(lt) {
		*n = note{uid: lt.UID, generation: lt.Generation}
	}
}

// isOf says whether the note is about this LoadTest and this generation of its spec.
func (n *note) isOf(lt *v1beta1.LoadTest) bool {
	return n.uid == lt.UID && n.generation == lt.Generation
}

// notes has a note for each LoadTest that is being reconciled. A LoadTest is reconciled
// by one goroutine at a time, so that only the map is shared. The zero value is ready.
type notes struct {
	mu sync.Mutex
	of map[types.NamespacedName]*note
}

// get returns the note of a LoadTest; it makes one if there is none.
func (n *notes) get(name types.NamespacedName) *note {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.of == nil {
		n.of = map[types.NamespacedName]*note{}
	}
	if n.of[name] == nil {
		n.of[name] = &note{}
	}
	return n.of[name]
}

func (n *notes) drop(name types.NamespacedName) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.of, name)
}
