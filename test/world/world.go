package world

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/queue"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/instant"
)

// Began is the instant at which the LoadTest is created: a whole second, so that texts are
// easy to read.
var Began = time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)

// World is a cluster in which nothing but one run happens.
type World struct {
	// Workers are the pods of the run, by number.
	Workers []*Worker
	Target
	Measured
	// Port is the number of the named port of the target's Service, and NoPort why it is not
	// known.
	Port   int32
	NoPort string
	// Place is the run's place in the queue of a story; nil: there is no queue.
	Place *queue.Place
	// PlaceAwaited says that another run of a story waits for the run's place.
	PlaceAwaited bool
	// Shuffle orders what is due at the same instant; nil: as it was asked for.
	Shuffle *rand.Rand
	// Wrote is called with the LoadTest after each write of its status; nil: it is not.
	Wrote func(*v1beta1.LoadTest)
	// Decide decides what the run does next.
	Decide func(*v1beta1.LoadTest, policy.Rules, lifecycle.Observed, time.Time) lifecycle.Decision

	now   time.Time
	queue []event // in their order
	order int
	// policy is the administrator's; nil: there are no rules.
	policy *policy.Policy
	api    apiServer
	leader *operator // that workers reach; nil: none
	all    []*operator
	agents int // operators so far, for their names
	timing
	text strings.Builder
	faulty
}

// Target is the simulated target.
type Target struct {
	// Latency is the response time of every request; Slower is added for the control.
	Latency, Slower time.Duration
	// Users is the largest number of users with which the latency holds; 0: any. With more,
	// each response takes a second.
	Users int32
	// Extra is how many more requests the target has stored than it was sent, Hidden how many
	// it does not tell of. Problem is why it tells no number, and Restless says that the
	// number grows with each reading.
	Extra, Hidden int64
	Problem       string
	Restless      bool
	// served is how many requests the target had of each step.
	served map[int32]int64
}

// Measured is what each worker measures beside the requests that are due.
type Measured struct {
	// Lateness is by how much each request is sent late, and Throttled the time for which a
	// worker is held back in a step.
	Lateness, Throttled time.Duration
	// InFlight is how many requests have no outcome yet in a report before the last, and
	// Excess how many more are due than the worker's share.
	InFlight, Excess int64
	// Targets is how many targets a worker says that it has.
	Targets int32
}

// timing is what takes time in a world, beside what happens in a run.
type timing struct {
	// instant says that an operator sees every change at once, and acts at once.
	instant bool
	// prepares is the time from the assignment until a worker is ready, and says the time
	// until it says so. reports is the time from the start of a step to the first report.
	// reads is the time until a worker first reads a number.
	prepares, says, reports, reads time.Duration
}

var (
	instantly = timing{instant: true, reports: time.Second, reads: readEvery}
	slowly    = timing{prepares: 100 * time.Millisecond, says: 50 * time.Millisecond, reports: 200 * time.Millisecond}
)

// event is something that is due at an instant.
type event struct {
	at    time.Time
	order int
	what  func()
}

func (e event) compare(other event) int {
	return cmp.Or(e.at.Compare(other.at), cmp.Compare(e.order, other.order))
}

// New is a world without faults, in which a LoadTest of that spec was just created.
// Everything takes the time that the run gives it, and no more. It fails if the spec cannot
// be carried out.
func New(spec v1beta1.LoadTestSpec) (*World, error) { return newWorld(spec, instantly) }

func newWorld(spec v1beta1.LoadTestSpec, takes timing) (*World, error) {
	w := &World{now: Began, timing: takes, Decide: lifecycle.Decide}
	w.Latency, w.Targets, w.served = 20*time.Millisecond, 2, map[int32]int64{}
	w.faults, w.lengths, w.digest = map[int][]fault{}, map[types.UID]time.Duration{}, "sha256:aaa"
	if !takes.instant {
		w.policy = policy.Default()
	}
	lt := &v1beta1.LoadTest{Spec: spec}
	lt.Name, lt.Namespace, lt.UID, lt.Generation = "story", "default", "uid-1", 1
	planned, refusal := plan.New(lt, policy.Rules{})
	if refusal != nil {
		return nil, refusal
	}
	w.planned = planned.Steps
	w.api = newAPIServer(w, lt)
	w.SetWorkers(int(planned.Workers))
	return w, nil
}

// SetWorkers replaces the workers by so many.
func (w *World) SetWorkers(n int) {
	w.Workers, w.api.pods = nil, make([]pod, n)
	for i := range n {
		w.Workers = append(w.Workers, &Worker{world: w, number: i})
	}
	w.all, w.agents = nil, 0
	w.startOperator(0)
}

// LoadTest is the object as it is stored. A test may edit it.
func (w *World) LoadTest() *v1beta1.LoadTest { return w.api.lt }

// Now is the present instant.
func (w *World) Now() time.Time { return w.now }

// After makes something happen later. It is an event: a fault may come before it.
func (w *World) After(d time.Duration, what func()) {
	w.order++
	order := w.order
	if w.Shuffle != nil {
		order = w.Shuffle.Int()
	}
	e := event{w.now.Add(d), order, what}
	i, _ := slices.BinarySearchFunc(w.queue, e, event.compare)
	w.queue = slices.Insert(w.queue, i, e)
}

// in does something after a while; 0: at once.
func (w *World) in(d time.Duration, what func()) {
	if d == 0 {
		what()
		return
	}
	w.After(d, what)
}

// next is the next event, the instant of which has come.
func (w *World) next() event {
	next := w.queue[0]
	w.queue = w.queue[1:]
	w.now = instant.Later(w.now, next.at)
	return next
}

// latencyOf is the latency of every response in a step.
func (w *World) latencyOf(step int32) time.Duration {
	s := &w.api.lt.Status.Steps[step]
	latency := w.Latency
	if w.Users > 0 && s.Load.Users > w.Users {
		latency = time.Second
	}
	if s.Side == v1beta1.SideControl {
		latency += w.Slower
	}
	return latency
}

// filled is how much the target has stored before the run.
const filled = 60

// stored is what the target has stored.
func (t *Target) stored() int64 {
	sum := filled + t.Extra
	for _, n := range t.served {
		sum += n
	}
	return sum
}

// say adds a line to what happened.
func (w *World) say(format string, args ...any) {
	if w.instant {
		fmt.Fprintf(&w.text, "%8.3fs  %s\n", w.now.Sub(Began).Seconds(), fmt.Sprintf(format, args...))
		return
	}
	w.trace = append(w.trace, fmt.Sprintf("%9.3fs %4d  %s", w.now.Sub(Began).Seconds(), w.events, fmt.Sprintf(format, args...)))
}
