package decision_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtestschedule/decision"
	"github.com/loadtest-dev/loadtest-operator/instant"
)

var (
	seeds    = flag.Int("seeds", 100, "how many worlds are simulated")
	onlySeed = flag.Uint64("seed", 0, "the only world to simulate")
)

// world is an API server with one schedule, and two operators of which each takes itself
// for the leader. What they read may be behind, they end at any point, and what they
// write may be carried out twice.
type world struct {
	*rand.Rand
	now, latest time.Time // as clocks show it, which may be set; and the latest that was
	passed      time.Duration
	schedule    *v1beta1.LoadTestSchedule
	version     int
	runs        []decision.LoadTest
	rollout     decision.Rollout
	// created counts, by name, how often a LoadTest was created.
	created map[string]int
	// path is the template's, by the name of the LoadTest that was made from it.
	path      map[string]string
	operators [2]operator
	history   []snapshot
	log       []string
}

// snapshot is what can be read at a time.
type snapshot struct {
	schedule *v1beta1.LoadTestSchedule
	version  int
	runs     []decision.LoadTest
}

// operator is a process.
type operator struct {
	created string
	// pass is one that is under way: the decision, what it was made from, and since when.
	pass *pass
}

type pass struct {
	from     snapshot
	decision decision.Decision
	began    time.Duration
	stage    int
}

const passTimeout = 35 * time.Second

func (w *world) note(format string, args ...any) {
	w.log = append(w.log, w.now.Format("15:04:05 ")+fmt.Sprintf(format, args...))
}

func (w *world) snapshot() snapshot {
	return snapshot{w.schedule.DeepCopy(), w.version, slices.Clone(w.runs)}
}

// changed is after each write.
func (w *world) changed() { w.history = append(w.history, w.snapshot()) }

// elapse lets time go by; LoadTests finish.
func (w *world) elapse(d time.Duration) {
	w.now, w.passed = w.now.Add(d), w.passed+d
	w.latest = instant.Later(w.latest, w.now)
	for i := range w.runs {
		r := &w.runs[i]
		if !r.Finished && w.IntN(2) == 0 {
			r.Finished, r.Completed = true, w.now.Truncate(time.Second)
			r.Verdict = []v1beta1.Verdict{v1beta1.VerdictPassed, v1beta1.VerdictFailed, v1beta1.VerdictError}[w.IntN(3)]
			w.changed()
		}
	}
}

// observe begins a pass, from what is now or from what was.
func (w *world) observe(o *operator, from snapshot) {
	seen := decision.Observed{Runs: from.runs, Created: o.created}
	if slices.ContainsFunc(from.runs, func(r decision.LoadTest) bool { return r.Name == o.created }) {
		o.created, seen.Created = "", ""
	}
	if from.schedule.Spec.OnRollout != nil {
		rollout := w.rollout
		seen.Rollout = &rollout
	}
	o.pass = &pass{from: from, decision: decision.Decide(from.schedule, seen, w.now), began: w.passed}
}

// step carries out the next part of a pass, and says whether it goes on.
func (w *world) step(o *operator) {
	p := o.pass
	p.stage++
	if w.passed-p.began > passTimeout {
		o.pass = nil
		return
	}
	switch p.stage {
	case 1: // the check that the cache is not behind
		if p.decision.Start != nil && p.from.version != w.version {
			o.pass = nil
		}
	case 2:
		if s := p.decision.Start; s != nil {
			for range 1 + w.IntN(2) { // a request that is sent again
				w.create(s.Name, p.from.schedule)
			}
			o.created = s.Name
		}
	case 3:
		if reflect.DeepEqual(p.decision.Status, p.from.schedule.Status) {
			return // nothing to write
		}
		if p.from.version != w.version {
			o.pass = nil // a conflict
			return
		}
		w.schedule.Status = p.decision.Status
		w.bump()
	case 4:
		w.remove(slices.Concat(p.decision.Replaced, p.decision.Expired))
		o.pass = nil
	}
}

func (w *world) bump() {
	w.version++
	w.changed()
}

func (w *world) create(name string, from *v1beta1.LoadTestSchedule) {
	if slices.ContainsFunc(w.runs, func(r decision.LoadTest) bool { return r.Name == name }) {
		return
	}
	w.created[name]++
	w.path[name] = from.Spec.Template.Spec.Requests[0].HTTP.Path
	w.note("create %s", name)
	w.runs = append(w.runs, decision.LoadTest{Name: name, UID: fmt.Sprint(name, w.created[name]), Created: w.now.Truncate(time.Second)})
	w.changed()
}

func (w *world) remove(list []decision.LoadTest) {
	for _, gone := range list {
		w.note("remove %s", gone.Name)
		w.runs = slices.DeleteFunc(w.runs, func(r decision.LoadTest) bool { return r.UID == gone.UID })
	}
	if len(list) > 0 {
		w.changed()
	}
}

// act lets something happen.
func (w *world) act() {
	o := &w.operators[w.IntN(2)]
	switch n := w.IntN(100); {
	case n < 22:
		w.elapse(time.Duration(w.IntN(8)) * time.Second)
	case n < 25:
		w.elapse(time.Duration(w.IntN(150)) * time.Second)
	case n < 85:
		switch {
		case o.pass != nil:
			w.step(o)
		case w.IntN(3) == 0 && len(w.history) > 0: // a cache that is behind
			w.observe(o, w.history[max(0, len(w.history)-1-w.IntN(40))])
		default:
			w.observe(o, w.snapshot())
		}
	case n < 88:
		*o = operator{} // it ends, and another begins
	case n < 90 && w.operators[0].pass == nil && w.operators[1].pass == nil:
		w.now = w.now.Add(time.Duration(w.IntN(1200)-400) * time.Second) // the clock is set
		w.latest = instant.Later(w.latest, w.now)
		w.note("the clock is set")
	case n < 93:
		w.rollout.Complete = !w.rollout.Complete
		if !w.rollout.Complete {
			w.rollout.Revision = fmt.Sprint(len(w.history))
		}
	default:
		w.edit()
	}
}

// edit changes the spec.
func (w *world) edit() {
	s := w.schedule
	switch w.IntN(6) {
	case 0:
		s.Spec.Suspend = !s.Spec.Suspend
	case 1:
		s.Spec.Template.Spec.Requests[0].HTTP.Path = fmt.Sprint("/", w.IntN(3))
	case 2:
		s.Spec.ConcurrencyPolicy = []v1beta1.ConcurrencyPolicy{v1beta1.AllowConcurrent, v1beta1.ForbidConcurrent, v1beta1.ReplaceConcurrent}[w.IntN(3)]
	case 3:
		s.Spec.StartingDeadlineSeconds = []*int64{nil, new(int64(60)), new(int64(600))}[w.IntN(3)]
	case 4:
		s.Spec.SuccessfulRunsHistoryLimit, s.Spec.FailedRunsHistoryLimit = new(int32(w.IntN(2))), new(int32(w.IntN(2)))
	case 5:
		s.Spec.Schedule = []string{"*/3 * * * *", "*/7 * * * *"}[w.IntN(2)]
	}
	s.Generation++
	w.bump()
}

// quiet lets one operator, whose cache is not behind, do all that there is to do, as often
// as one LoadTest waits for the end of another.
func (w *world) quiet() {
	w.operators = [2]operator{}
	o := &w.operators[0]
	for range 60 {
		w.observe(o, w.snapshot())
		for o.pass != nil {
			w.step(o)
		}
		for i := range w.runs {
			if r := &w.runs[i]; !r.Finished {
				r.Finished, r.Completed, r.Verdict = true, w.now.Truncate(time.Second), v1beta1.VerdictPassed
			}
		}
	}
}

// check says what is wrong once there is nothing to do.
func (w *world) check() (wrong []string) {
	for name, n := range w.created {
		if n > 1 {
			wrong = append(wrong, fmt.Sprintf("%s was created %d times", name, n))
		}
	}
	s := w.schedule
	if s.Spec.Suspend {
		return wrong
	}
	if w.rollout.Complete && (s.Status.Rollout == nil || s.Status.Rollout.Revision != w.rollout.Revision || w.created[s.Status.Rollout.Run] != 1) {
		wrong = append(wrong, "the rollout has no LoadTest")
	}
	if c := s.Status.Change; c == nil || c.Run == "" || w.created[c.Run] != 1 || w.path[c.Run] != s.Spec.Template.Spec.Requests[0].HTTP.Path {
		wrong = append(wrong, "the change has no LoadTest")
	}
	return append(wrong, w.checkTimes()...)
}

// checkTimes looks for a time that is due, within its deadline, and has no LoadTest.
func (w *world) checkTimes() []string {
	s := w.schedule
	every := 3 * time.Minute
	if s.Spec.Schedule == "*/7 * * * *" {
		every = 7 * time.Minute
	}
	hour := w.now.Truncate(time.Hour)
	at := hour.Add(w.now.Sub(hour) / every * every)
	limit := s.Spec.StartingDeadlineSeconds
	switch {
	case w.now.Before(w.latest), limit != nil && w.now.Sub(at) > time.Duration(*limit)*time.Second:
		return nil // the clock was set back, or it is too late
	case !at.After(s.Status.Considered.Until.Time) && w.created[nameAt(at)] == 0:
		if at.After(w.edited()) {
			return []string{fmt.Sprintf("the time %s is done without a LoadTest", at.Format("15:04"))}
		}
	case at.After(s.Status.Considered.Until.Time):
		return []string{fmt.Sprintf("the time %s is not done", at.Format("15:04"))}
	}
	return nil
}

// edited is the instant from which the times of the schedule count.
func (w *world) edited() time.Time {
	for i := range slices.Backward(w.history) {
		c := w.history[i].schedule.Status.Considered
		if c == nil || c.Schedule != w.schedule.Spec.Schedule {
			return w.now // it was edited in the past, which counts from when it was seen
		}
	}
	return w.schedule.CreationTimestamp.Time
}

func nameAt(at time.Time) string { return fmt.Sprintf("nightly-%d", at.Unix()/60) }

// TestNothingIsStartedTwiceOrForgotten simulates what becomes of a schedule.
func TestNothingIsStartedTwiceOrForgotten(t *testing.T) {
	started := 0
	for seed := uint64(1); seed <= uint64(*seeds); seed++ {
		if *onlySeed != 0 {
			seed = *onlySeed
		}
		w := newWorld(seed)
		for round := range 12 {
			for range 60 {
				w.act()
			}
			w.quiet()
			if wrong := w.check(); len(wrong) > 0 {
				t.Fatalf("seed %d, round %d: %v\n%v", seed, round, wrong, w.log)
			}
		}
		started += len(w.created)
		if *onlySeed != 0 {
			break
		}
	}
	t.Logf("%d worlds, %d LoadTests", *seeds, started)
	if started < 10**seeds && *onlySeed == 0 {
		t.Errorf("only %d LoadTests were started in %d worlds", started, *seeds)
	}
}

func newWorld(seed uint64) *world {
	w := &world{Rand: rand.New(rand.NewPCG(seed, 0)), now: at("10:00:30"), created: map[string]int{}, path: map[string]string{}}
	w.schedule = nightly(func(s *v1beta1.LoadTestSchedule) {
		s.Spec.Schedule, s.Spec.OnChange = "*/3 * * * *", true
		s.Spec.OnRollout = &v1beta1.Rollout{Kind: v1beta1.WorkloadDeployment, Name: "shop"}
		s.Spec.SuccessfulRunsHistoryLimit, s.Spec.FailedRunsHistoryLimit = new(int32(0)), new(int32(0))
		s.CreationTimestamp = metav1.NewTime(w.now)
	})
	w.rollout = decision.Rollout{UID: "d", Revision: "1"}
	w.latest = w.now
	w.changed()
	return w
}
