package model

import (
	"cmp"
	"container/heap"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
)

// began is a whole second, so that traces are easy to read.
var began = time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)

// world is a cluster in which nothing but one run happens.
type world struct {
	story *story
	now   time.Time
	queue eventQueue
	order int
	// shuffle is the order of what is due at the same instant; nil: as it was asked for.
	shuffle *rand.Rand
	// faults are to be inserted before the event with that number.
	faults map[int][]fault
	events int

	// policy is the administrator's.
	policy *policy.Policy
	// digest is that of the image of the target.
	digest string

	api     apiServer
	leader  *operator // that workers reach; nil: none
	all     []*operator
	workers []*worker
	agents  int // operators so far, for their names
	// apiAway keeps every operator from reading and writing until then.
	apiAway time.Time
	// failWrites and failAfterWrites are how many writes are refused, or reported as
	// refused though they were made.
	failWrites, failAfterWrites int
	// refuses is why workers are not ready: reason and message.
	refuses map[int][2]string
	// lengths are how long each of the other runs takes.
	lengths map[types.UID]time.Duration
	// quotaUntil is until when no archive is taken.
	quotaUntil time.Time
	// holdsInputs has each pass be held to write to none of its inputs, which takes time.
	holdsInputs bool
	// dropNotices is how many notifications are lost.
	dropNotices int

	truth
}

// truth is what no operator can see.
type truth struct {
	// harmed says that a worker died, was deleted, or was away for too long: what it
	// held may be missing.
	harmed bool
	// jumped says that a clock did, isolated that a worker was cut off for as long as a
	// new operator waits for it. Together they are harm: a limit may seem to have passed.
	jumped, isolated bool
	// held is for how long the run was until now, heldSince since when it is once more.
	held      time.Duration
	heldSince time.Time
	// slack is for how long operators were away, or clocks apart.
	slack time.Duration
	// noticeLost says that a notification was, which excuses a late pass.
	noticeLost bool
	// latest is how long after its instant a worker began a step.
	latest time.Duration
	// served is how many requests the target had of each step.
	served     map[int32]int64
	violations []string
	trace      []string
	states     int
}

// event is something that is due at an instant.
type event struct {
	at    time.Time
	order int
	what  func()
}

type eventQueue []event

func (q eventQueue) Len() int { return len(q) }
func (q eventQueue) Less(i, j int) bool {
	return cmp.Or(q[i].at.Compare(q[j].at), cmp.Compare(q[i].order, q[j].order)) < 0
}
func (q eventQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *eventQueue) Push(x any)   { *q = append(*q, x.(event)) }
func (q *eventQueue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

// newWorld is a world in which the story's LoadTest was just created.
func newWorld(s *story) *world {
	w := &world{story: s, now: began, policy: policy.Default(), digest: "sha256:aaa", faults: map[int][]fault{}, lengths: map[types.UID]time.Duration{}}
	w.served, w.refuses = map[int32]int64{}, maps.Clone(s.refuses)
	lt := &v1alpha1.LoadTest{Spec: spec()}
	lt.Name, lt.Namespace, lt.UID, lt.Generation = "run", "default", "uid-1", 1
	if s.spec != nil {
		s.spec(&lt.Spec)
	}
	planned, refusal := plan.New(lt, policy.Rules{})
	if refusal != nil {
		panic(refusal)
	}
	for n := range planned.Workers {
		w.workers = append(w.workers, &worker{world: w, number: int(n)})
	}
	w.api = newAPIServer(w, lt)
	w.startOperator(0)
	if s.script != nil {
		s.script(w)
	}
	return w
}

// after has something happen later. It is an event: a fault may come before it.
func (w *world) after(d time.Duration, what func()) {
	w.order++
	order := w.order
	if w.shuffle != nil {
		order = w.shuffle.Int()
	}
	heap.Push(&w.queue, event{w.now.Add(d), order, what})
}

// run lets everything happen.
func (w *world) run() {
	const bound = 20_000
	for len(w.queue) > 0 && !w.api.deleted && w.events < bound && len(w.violations) == 0 {
		next := heap.Pop(&w.queue).(event)
		if next.at.After(w.now) {
			w.now = next.at
		}
		for _, f := range w.faults[w.events] {
			w.say("FAULT %s, before event %d", f.name, w.events)
			f.insert(w)
		}
		w.events++
		next.what()
		w.checkPrompt()
	}
	w.checkEnd()
}

// stored is the number that the target tells: of all requests that it had.
func (w *world) stored() int64 {
	sum := int64(60)
	for _, n := range w.served {
		sum += n
	}
	return sum
}

// latencyOf is that of every response in a step.
func (w *world) latencyOf(step int32) time.Duration {
	if most := w.story.users; most > 0 && w.api.lt.Status.Steps[step].Load.Users > most {
		return 2 * limit
	}
	return w.story.latency
}

// say adds a line to what happened.
func (w *world) say(format string, args ...any) {
	w.trace = append(w.trace, fmt.Sprintf("%9.3fs %4d  %s", w.now.Sub(began).Seconds(), w.events, fmt.Sprintf(format, args...)))
}

// violated notes that an invariant does not hold.
func (w *world) violated(invariant, format string, args ...any) {
	text := invariant + ": " + fmt.Sprintf(format, args...)
	w.say("VIOLATION %s", text)
	w.violations = append(w.violations, text)
}

func (w *world) String() string {
	return fmt.Sprintf("story %q\n%s\n", w.story.name, strings.Join(w.trace, "\n"))
}

// faultNames are those that were inserted, each with its event.
func (w *world) faultNames() []string {
	var names []string
	for _, at := range slices.Sorted(maps.Keys(w.faults)) {
		for _, f := range w.faults[at] {
			names = append(names, fmt.Sprintf("%s before event %d", f.name, at))
		}
	}
	return names
}
