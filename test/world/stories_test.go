package world

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
)

// spec is a test of three workers: two rungs with a rest between them.
func spec() v1beta1.LoadTestSpec {
	return v1beta1.LoadTestSpec{
		Target: v1beta1.Target{
			Service: &v1beta1.ServiceReference{Name: "shortener", Port: ptr.To(intstr.FromInt32(8080)), Scheme: v1beta1.SchemeHTTP},
			Timeout: &metav1.Duration{Duration: time.Second}, // so that the limit of a step is soon after it
		},
		Requests:    []v1beta1.Request{{Name: "health", HTTP: &v1beta1.HTTPRequest{Path: "/health"}}},
		Parallelism: ptr.To[int32](3),
		Ladder: &v1beta1.Ladder{
			Users: []int32{9, 20}, RatePerUser: ptr.To(v1beta1.NewDecimal("1")),
			Duration: metav1.Duration{Duration: 3 * time.Second}, Rest: &metav1.Duration{Duration: 2 * time.Second},
		},
		Thresholds:              []v1beta1.Threshold{{Metric: "p95", Max: ptr.To(intstr.Parse(limit.String()))}},
		StartDeadlineSeconds:    ptr.To[int64](600),
		TTLSecondsAfterFinished: ptr.To[int32](3600),
	}
}

// story is a life that a run can have.
type story struct {
	name   string
	spec   func(*v1beta1.LoadTestSpec)
	script func(*World)
	// latency is the latency of every response; default 20 ms.
	latency time.Duration
	// users is with how many users at most responses come in time; default any.
	users int32
	// refuses is why workers are not ready, unschedulable which have no node.
	refuses       map[int][2]string
	unschedulable map[int]bool
	// looks says that the pods of the target are read.
	looks bool
	// keeps says that the results are archived and the verdict is announced.
	keeps bool
	// timely says that how it ends depends on when things happen.
	timely bool
	// ending is how it ends without a fault.
	ending *ending
}

func edit(at time.Duration, what string, f func(*v1beta1.LoadTestSpec)) func(*World) {
	return func(w *World) { w.After(at, func() { w.api.edit(what, f) }) }
}

// stop is a configuration that does.
const stop = "stop: {by: jane, reason: incident 4711}"

func quiet(from, to string) string {
	return fmt.Sprintf("quietHours: [{from: %q, to: %q}]", from, to)
}

// configure puts a configuration in force from an instant on; at 0, from the beginning.
func configure(at time.Duration, document string) func(*World) {
	return func(w *World) {
		if at == 0 {
			w.Configure(document)
			return
		}
		w.After(at, func() { w.configures(document, document) })
	}
}

func all(scripts ...func(*World)) func(*World) {
	return func(w *World) {
		for _, s := range scripts {
			s(w)
		}
	}
}

// searches makes the run look for its limit, within a range around the target's.
func searches(s *v1beta1.LoadTestSpec) {
	s.Search = &v1beta1.Search{
		Users: &v1beta1.UsersRange{Min: 9, Max: 60}, RatePerUser: s.Ladder.RatePerUser,
		Duration: s.Ladder.Duration, Rest: s.Ladder.Rest, Precision: "50%",
		Hold: &metav1.Duration{Duration: 2 * s.Ladder.Duration.Duration},
	}
	s.Ladder = nil
}

func suspend(held bool) func(*v1beta1.LoadTestSpec) {
	return func(s *v1beta1.LoadTestSpec) { s.Suspend = held }
}

// givesItsPlaceUp holds a run that has begun, and resumes it when another has its place.
var givesItsPlaceUp = all(
	edit(500*time.Millisecond, "suspend", suspend(true)),
	func(w *World) { w.After(600*time.Millisecond, func() { another(15 * time.Second)(w) }) },
	edit(700*time.Millisecond, "resume", suspend(false)))

// waitsForNodes lets no pod start for 130 s, while another run comes.
func waitsForNodes(w *World) {
	w.slack += 130 * time.Second
	for _, x := range w.Workers {
		x.Refused = true
	}
	w.After(30*time.Second, func() { another(20 * time.Second)(w) })
	w.After(130*time.Second, func() {
		for _, x := range w.Workers {
			x.Refused = false
		}
	})
}

// audited makes the run compare a number of the target with what it acknowledged.
func audited(s *v1beta1.LoadTestSpec) {
	s.Requests[0].Name = "create"
	s.Audits = []v1beta1.Audit{{Name: "links", Stored: &v1beta1.Stored{Value: ".links", Requests: []string{"create"}}}}
}

// compares makes the run send each step to a second target, too.
func compares(s *v1beta1.LoadTestSpec) {
	control := v1beta1.OtherTarget{Name: "shortener-v3", Service: s.Target.Service.DeepCopy()}
	control.Service.Name = "shortener-v3"
	s.OtherTargets, s.Versus = []v1beta1.OtherTarget{control}, &v1beta1.Versus{Target: "shortener-v3"}
	s.Ladder.Users, s.Repetitions = []int32{9}, 2
	s.Thresholds = append(s.Thresholds, v1beta1.Threshold{Metric: "p95", MaxIncrease: "10%"})
}

// goesOn makes the run go on with the workers that are left.
func goesOn(s *v1beta1.LoadTestSpec) {
	s.Repetitions = 2
	s.Worker = &v1beta1.Worker{OnLoss: v1beta1.LossContinue}
}

func terminate(s *v1beta1.LoadTestSpec) { s.Terminate = true }

// livesFor makes the LoadTest be deleted so many seconds after its end.
func livesFor(seconds int32) func(*v1beta1.LoadTestSpec) {
	return func(s *v1beta1.LoadTestSpec) { s.TTLSecondsAfterFinished = &seconds }
}

// takesNone keeps the destination from taking an archive, and a verdict, until so long after
// the beginning.
func takesNone(archive, verdict time.Duration) func(*World) {
	return func(w *World) {
		w.destination.noArchive, w.destination.noVerdict = Began.Add(archive), Began.Add(verdict)
	}
}

// compared makes the run compare itself with an earlier one.
func compared(s *v1beta1.LoadTestSpec) {
	s.Baseline = &v1beta1.Baseline{Name: "before"}
	s.Thresholds = append(s.Thresholds, v1beta1.Threshold{Metric: "goodput", MaxDecrease: "50%"})
}

// baselineOf is the earlier run of the same plan with which a run is compared.
func baselineOf(lt *v1beta1.LoadTest, planned []v1beta1.StepStatus) *v1beta1.LoadTest {
	before := lt.DeepCopy()
	before.Name, before.UID, before.Spec.Baseline = lt.Spec.Baseline.Name, "uid-0", nil
	for _, step := range planned {
		if !step.Load.IsPause() {
			step.State, step.WorkersReporting = v1beta1.StepComplete, *lt.Spec.Parallelism
			step.Result = &v1beta1.StepResult{Goodput: "9.0"}
		}
		before.Status.Steps = append(before.Status.Steps, step)
	}
	before.Status.Verdict, before.Status.Workers.Desired = v1beta1.VerdictPassed, *lt.Spec.Parallelism
	before.Status.Conditions = []metav1.Condition{{Type: v1beta1.ConditionFinished, Status: metav1.ConditionTrue}}
	return before
}

// beforeEnds makes the baseline finish after so long.
func beforeEnds(at time.Duration) func(*World) {
	return func(w *World) {
		finished := baselineOf(w.api.lt, w.planned)
		running := finished.DeepCopy()
		running.Status = v1beta1.LoadTestStatus{}
		w.api.baseline, w.leader.cache.baseline = running, running
		w.After(at, func() {
			w.say("the baseline has finished")
			w.api.baseline = finished
			w.api.changed()
		})
	}
}

// harm has something happen to workers in the first step, from which results are lost.
func harm(f func(*World)) func(*World) {
	return func(w *World) {
		w.harmed = true
		w.After(4*time.Second, func() { f(w) })
	}
}

var unreachable = [2]string{v1beta1.ReasonTargetUnreachable, "connection refused"}

// becomesReady makes a worker find its target.
func becomesReady(at time.Duration, number int) func(*World) {
	return func(w *World) {
		w.After(at, w.Workers[number].BecomesReady)
	}
}

// newWorld is a world in which the story's LoadTest was just created.
func (s *story) newWorld() *World {
	of := spec()
	if s.spec != nil {
		s.spec(&of)
	}
	w, err := newWorld(of, slowly)
	if err != nil {
		panic(err)
	}
	w.name, w.timely, w.looks, w.keeps, w.ending = s.name, s.timely, s.looks, s.keeps, s.ending
	w.Latency, w.Users = s.latency, s.users
	for n, refuses := range s.refuses {
		w.Workers[n].Refuses = refuses
	}
	for n := range s.unschedulable {
		w.Workers[n].Stuck = true
	}
	if s.script != nil {
		s.script(w)
	}
	return w
}

func stories() []*story {
	list := []*story{
		{name: "passes"},
		{name: "passes with one worker", spec: func(s *v1beta1.LoadTestSpec) { s.Parallelism = ptr.To[int32](1) }},
		{name: "passes without rests", spec: func(s *v1beta1.LoadTestSpec) { s.Ladder.Rest = nil }},
		{name: "passes twice", spec: func(s *v1beta1.LoadTestSpec) { s.Repetitions = 2 }},
		{name: "arrivals", spec: func(s *v1beta1.LoadTestSpec) {
			s.Ladder.Users, s.Ladder.RatePerUser = nil, nil
			s.Ladder.Rates = []v1beta1.Decimal{v1beta1.NewDecimal("9"), v1beta1.NewDecimal("20")}
		}},
		{name: "bursts", spec: func(s *v1beta1.LoadTestSpec) {
			s.Ladder, s.Steps = nil, []v1beta1.Step{{Name: "9 users x 3", Users: ptr.To[int32](9), RequestsPerUser: ptr.To[int32](3)}, {Name: "20 users x 3", Users: ptr.To[int32](20), RequestsPerUser: ptr.To[int32](3)}}
		}},
		{name: "asks and fills before it begins", spec: func(s *v1beta1.LoadTestSpec) {
			s.Requests[0].Name = "create"
			s.Preflight = []v1beta1.Preflight{{HTTP: &v1beta1.Query{Path: "/version"}}}
			s.Setup = &v1beta1.Setup{Fill: &v1beta1.Fill{Request: "create", Count: 5}}
		}},
		{name: "users without a rate", spec: func(s *v1beta1.LoadTestSpec) { s.Ladder.RatePerUser = nil }},
		{name: "journeys", spec: func(s *v1beta1.LoadTestSpec) {
			s.Requests[0].Name = "look"
			s.Journeys = []v1beta1.Journey{{Name: "visit", Steps: []v1beta1.JourneyStep{{Request: "look"}}}}
		}},
		{name: "is compared with a baseline", spec: compared, script: beforeEnds(0)},
		{name: "waits for its baseline", spec: compared, script: beforeEnds(20 * time.Second)},
		{name: "keeps its results", keeps: true, spec: livesFor(0)},
		{name: "keeps its results late", keeps: true, spec: livesFor(5), script: takesNone(time.Minute, 0)},
		{name: "announces late", keeps: true, spec: livesFor(5), script: takesNone(0, time.Minute)},
		{name: "cannot keep its results", keeps: true, spec: livesFor(5), script: takesNone(time.Hour, time.Hour)},
		{name: "breaches", latency: 300 * time.Millisecond, spec: func(s *v1beta1.LoadTestSpec) { s.Ladder.StopOnBreach = true }},
		{name: "aborts", latency: 300 * time.Millisecond, spec: func(s *v1beta1.LoadTestSpec) {
			s.Ladder.Duration, s.Thresholds[0].OnBreach = metav1.Duration{Duration: 10 * time.Second}, v1beta1.BreachAbort
		}},
		{name: "searches", spec: searches, users: 20},
		{name: "searches without rests", users: 20, spec: func(s *v1beta1.LoadTestSpec) { s.Ladder.Rest = &metav1.Duration{}; searches(s) }},
		{name: "the target comes late", refuses: map[int][2]string{0: unreachable}, script: becomesReady(20*time.Second, 0)},
		{name: "the target never comes", refuses: map[int][2]string{1: unreachable}},
		{name: "a worker refuses", refuses: map[int][2]string{1: {v1beta1.ReasonWorkerRefused, "too many users"}}},
		{name: "a worker has no node", unschedulable: map[int]bool{2: true}},
		{name: "terminated", script: edit(4*time.Second, "terminate", terminate)},
		{name: "terminated before the start", script: edit(time.Second, "terminate", terminate)},
		{name: "terminated in the rest", script: edit(6500*time.Millisecond, "terminate", terminate)},
		{name: "stopped", script: configure(4*time.Second, stop)},
		{name: "stopped before the start", script: configure(time.Second, stop)},
		{name: "stopped in the rest", script: configure(6500*time.Millisecond, stop)},
		{name: "stopped in the last reading", timely: true, spec: audited, script: configure(17*time.Second, stop)},
		{name: "stopped at first, then resumed", script: all(configure(0, stop), configure(30*time.Second, ""))},
		{name: "quiet hours come in a step", timely: true, script: configure(0, quiet("10:01", "11:00")), spec: func(s *v1beta1.LoadTestSpec) {
			s.Ladder.Rest = &metav1.Duration{Duration: 54 * time.Second}
		}},
		{name: "quiet hours go", timely: true, script: configure(0, quiet("09:00", "10:01"))},
		{name: "waits for its turn", script: occupied(25 * time.Second)},
		{name: "waits for its turn, twice", script: all(occupied(5*time.Second), func(w *World) { w.After(time.Second, func() { another(10 * time.Second)(w) }) })},
		{name: "terminated in the queue", script: all(occupied(25*time.Second), edit(4*time.Second, "terminate", terminate))},
		{name: "stopped in the queue, then resumed", script: all(occupied(10*time.Second), configure(4*time.Second, stop), configure(30*time.Second, ""))},
		{name: "quiet hours come in the queue", timely: true, script: all(occupied(65*time.Second), configure(0, quiet("10:01", "10:02")))},
		{name: "held in the queue, then resumed", script: all(occupied(25*time.Second),
			edit(4*time.Second, "suspend", suspend(true)), edit(8*time.Second, "resume", suspend(false)))},
		{name: "gives its place up while it is held", script: givesItsPlaceUp},
		{name: "gives its place up before its Job is seen", script: all(podsBehind(2*time.Second), givesItsPlaceUp)},
		{name: "gives way to a run that waits", spec: func(s *v1beta1.LoadTestSpec) { s.StartDeadlineSeconds = ptr.To[int64](400) }, script: waitsForNodes},
		{name: "out of time", timely: true, spec: func(s *v1beta1.LoadTestSpec) { s.ActiveDeadlineSeconds = ptr.To[int64](4) }},
		{name: "held, then resumed", spec: suspend(true), script: all(
			edit(10*time.Second, "resume", suspend(false)), edit(11*time.Second, "suspend", suspend(true)), edit(20*time.Second, "resume", suspend(false)))},
		{name: "held between steps", script: all(edit(4*time.Second, "suspend", suspend(true)), edit(30*time.Second, "resume", suspend(false)))},
		{name: "a worker dies", script: harm(func(w *World) { w.Workers[1].end("OOMKilled, exit code 137", 0) })},
		{name: "every worker dies", script: harm(func(w *World) {
			for _, x := range w.Workers {
				x.end("OOMKilled, exit code 137", 0)
			}
		})},
		{name: "audited", spec: audited},
		{name: "audited, terminated in the last reading", timely: true, spec: audited, script: edit(17*time.Second, "terminate", terminate)},
		{name: "audited, a worker dies", spec: audited, script: harm(func(w *World) { w.Workers[1].end("OOMKilled, exit code 137", 3500*time.Millisecond) })},
		{name: "compares two targets", spec: compares},
		{name: "compares two targets, and stops after a pair", latency: 300 * time.Millisecond, spec: func(s *v1beta1.LoadTestSpec) { compares(s); s.Ladder.StopOnBreach = true }},
		{name: "compares two targets, a worker dies", spec: compares, script: harm(func(w *World) { w.Workers[1].end("OOMKilled, exit code 137", 0) })},
		{name: "goes on, and loses no worker", spec: goesOn},
		{name: "goes on without a worker that dies", spec: goesOn, script: harm(func(w *World) { w.Workers[1].end("OOMKilled, exit code 137", 0) })},
		{name: "goes on without a pod that is deleted", spec: goesOn, script: harm(func(w *World) { w.Workers[0].leave() })},
		{name: "goes on while a worker stays silent", spec: goesOn, script: harm(func(w *World) { w.Workers[1].isCutOff(time.Hour) })},
		{name: "goes on while a worker is silent for a step", spec: goesOn, script: harm(func(w *World) { w.Workers[1].isCutOff(40 * time.Second) })},
		{name: "goes on without rests, audited", spec: func(s *v1beta1.LoadTestSpec) { goesOn(s); audited(s); s.Ladder.Rest = nil }, script: harm(func(w *World) {
			w.Workers[1].end("OOMKilled, exit code 137", 3500*time.Millisecond)
		})},
		{name: "looks at the target", looks: true},
		{name: "looks at a target that is rolled out", looks: true, timely: true, script: func(w *World) {
			w.After(4*time.Second, func() { w.digest = "sha256:bbb" })
		}},
		{name: "a pod is deleted", script: harm(func(w *World) { w.Workers[0].leave() })},
		{name: "a worker stays silent", script: harm(func(w *World) { w.Workers[1].isCutOff(time.Hour) })},
	}
	for _, s := range list {
		if s.latency == 0 {
			s.latency = 20 * time.Millisecond
		}
	}
	return list
}
