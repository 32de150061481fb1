package plan

import (
	"hash/fnv"
	"slices"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/pace"
)

// perWorker is how many users, or requests per second, one worker is given when
// spec.parallelism is absent.
const perWorker = 2500

// Plan is what a spec is expanded to when its run is accepted. It is written to the
// status, and what follows reads it there: an operator with other constants, which
// takes the run over, goes on with it.
type Plan struct {
	// Workers is how many workers share the load.
	Workers int32
	// TargetURL is scheme and host of the target; "" while the number of a named port
	// is not known.
	TargetURL string
	// Requests are the names and types of the requests, defaults applied.
	Requests []v1beta1.RequestStatus
	// Steps are the steps of all repetitions, none of which has begun.
	Steps []v1beta1.StepStatus
	// Audits are those that compare a number, none of which is read yet.
	Audits []v1beta1.AuditStatus
	// Search is how a search goes on from there; nil: there is none.
	Search *v1beta1.SearchStatus
	// Versus is what the two targets of a comparison are called; nil: there is one target.
	Versus *v1beta1.VersusStatus
	// OtherTargets are where the requests go that name one, as far as ports are known.
	OtherTargets []v1beta1.OtherTargetStatus
	// SetupConnections is how many connections each worker opens for the setup, at most; 0: no bound.
	SetupConnections int32
	// Loads are those that are sent side by side, each by a LoadTest of its own; nil: the run has one
	// load, and Steps are its own.
	Loads []v1beta1.LoadStatus
	// Longest is how long the steps may take at most, from the beginning of the first: of a search, with all
	// that it may append; of loads, until the last ends that is not in the background.
	Longest time.Duration
}

// Record writes the plan to a status.
func (p Plan) Record(s *v1beta1.LoadTestStatus) {
	s.Workers = v1beta1.WorkerCounts{Desired: p.Workers}
	s.TargetURL, s.Requests, s.Steps = p.TargetURL, p.Requests, p.Steps
	s.Internal.Access, s.Internal.ControlAccess, s.Internal.OtherAccess = nil, nil, nil
	s.Audits, s.Search, s.Versus, s.OtherTargets = p.Audits, p.Search, p.Versus, p.OtherTargets
	s.Loads, s.Internal.SetupConnections = p.Loads, p.SetupConnections
}

// Workers is how many workers a run will have.
func Workers(spec *v1beta1.LoadTestSpec) int32 {
	if len(spec.Loads) == 0 {
		return workers(spec, stepsOnce(spec))
	}
	var sum int32
	for i := range spec.Loads {
		sum += Workers(LoadSpec(spec, i))
	}
	return min(sum, workerv1.MaxWorkers)
}

// workers is how many workers share the load: spec.parallelism, or enough for
// the largest step. A worker may get no share of a small step.
func workers(spec *v1beta1.LoadTestSpec, steps []v1beta1.StepStatus) int32 {
	if spec.Parallelism != nil {
		return max(*spec.Parallelism, 1)
	}
	if s := spec.Search; s != nil {
		steps = []v1beta1.StepStatus{largestProbe(s)}
	}
	n := int64(1)
	if spec.Replay != nil {
		n = pace.DivideUp(replayMicros(spec), perWorker*micro)
	}
	for i := range steps {
		l := &steps[i].Load
		n = max(n,
			pace.DivideUp(int64(l.MostUsers()), perWorker),
			pace.DivideUp(sessionsAtOnce(spec, l), perWorker),
			pace.DivideUp(mostRate(spec, l), perWorker*micro))
	}
	return int32(min(n, workerv1.MaxWorkers))
}

// Assignments are the shares of the workers, by number, of the plan in status. They
// share their target, requests, data, preflight and audits: read them, do not change them.
func Assignments(lt *v1beta1.LoadTest) []*workerv1.Assignment {
	workers := lt.Status.Workers.Desired
	target, control := target(&lt.Spec, &lt.Spec.Target, lt.Status.TargetURL, lt.Status.Internal.Access), control(lt)
	setAliases(lt, target, control)
	requests, data, preflight := requests(&lt.Spec, &lt.Spec.Target), data(&lt.Spec), preflight(&lt.Spec, lt.Spec.Preflight, &lt.Spec.Target)
	audits, journeys, others := audits(&lt.Spec), journeys(&lt.Spec), otherTargets(lt)
	logins, log := logins(&lt.Spec), replay(&lt.Spec)
	foreseen, groups := Foreseen(&lt.Spec, &lt.Status), requestGroups(&lt.Spec)
	list := make([]*workerv1.Assignment, workers)
	for w := range workers {
		list[w] = &workerv1.Assignment{
			Run:          string(lt.UID),
			Worker:       w,
			Workers:      workers,
			Target:       target,
			Requests:     requests,
			Journeys:     journeys,
			Steps:        workerSteps(foreseen, len(lt.Status.Steps), w, workers),
			Largest:      largest(&lt.Spec, w, workers),
			ClientHeader: clientHeader(&lt.Spec),
			Seed:         seed(lt),
			Data:         data,
			Setup:        setup(&lt.Spec, lt.Status.Internal.SetupConnections, w, workers),
			Preflight:    preflight,
			Audits:       audits,
			OnTimeNanos:  onTimeNanos(&lt.Spec),
			StreamGoals:  streamGoals(&lt.Spec),
			LiveIdeal:    Aborts(&lt.Spec),
			Groups:       groups,
			Control:      control,
			OtherTargets: others,
			Logins:       logins,
			Driver:       driver(&lt.Spec),
			Replay:       log,

			ExposeResponses: lt.Spec.Expose == v1beta1.ExposeResponses,
		}
	}
	return list
}

// workerSteps are one worker's shares of the first steps, those that are planned, that
// send load. All that are foreseen say how long the run may take from each on.
func workerSteps(foreseen []v1beta1.StepStatus, planned int, worker, workers int32) []*workerv1.Step {
	var list []*workerv1.Step
	var remaining time.Duration
	for i := range slices.Backward(foreseen) {
		l := &foreseen[i].Load
		remaining += atMost(&foreseen[i])
		if l.IsPause() || i >= planned {
			continue
		}
		step := workerStep(l, worker, workers)
		step.Index, step.RemainingNanos = int32(i), int64(remaining)
		step.ToControl = foreseen[i].Side == v1beta1.SideControl
		list = append(list, step)
	}
	slices.Reverse(list)
	return list
}

// atMost is the longest time that a step takes, and the exact time of a pause.
func atMost(s *v1beta1.StepStatus) time.Duration {
	return v1beta1.OrZero(s.Load.Pause) + v1beta1.OrZero(s.TimeLimit)
}

// largest is one worker's share of the greatest load of a search; nil: there is invalid.
func largest(spec *v1beta1.LoadTestSpec, worker, workers int32) *workerv1.Step {
	if spec.Search == nil {
		return nil
	}
	probe := largestProbe(spec.Search)
	return workerStep(&probe.Load, worker, workers)
}

func workerStep(l *v1beta1.StepLoad, worker, workers int32) *workerv1.Step {
	total := shared(l)
	step := &workerv1.Step{Share: share(total, worker, workers), Total: total, WarmUpNanos: int64(v1beta1.OrZero(l.WarmUp))}
	nanos := int64(v1beta1.OrZero(l.Duration))
	switch {
	case l.IsBurst():
		step.Load = &workerv1.Step_Burst{Burst: &workerv1.Burst{
			RequestsPerUser: l.RequestsPerUser, LimitNanos: int64(v1beta1.OrZero(l.MaxDuration)), Think: think(l.Think),
		}}
	case l.IsReplay():
		step.Load = &workerv1.Step_Recorded{Recorded: &workerv1.Recorded{DurationNanos: nanos}}
	case l.Rate != nil:
		step.Load = &workerv1.Step_Arrivals{Arrivals: &workerv1.Arrivals{
			TotalRateMicros: micros(l.Rate), EndRateMicros: micros(l.RampTo), DurationNanos: nanos,
			Poisson: l.Arrivals == v1beta1.ArrivalsPoisson,
		}}
	case l.RampTo != nil:
		step.Load = &workerv1.Step_RampedUsers{RampedUsers: rampedUsers(l)}
	case l.RatePerUser != nil:
		step.Load = &workerv1.Step_PacedUsers{PacedUsers: &workerv1.PacedUsers{TotalRateMicros: totalRate(l), DurationNanos: nanos}}
	default:
		step.Load = &workerv1.Step_ClosedUsers{ClosedUsers: &workerv1.ClosedUsers{DurationNanos: nanos, Think: think(l.Think)}}
	}
	return step
}

func clientHeader(spec *v1beta1.LoadTestSpec) string {
	if contract := spec.RateLimit(); contract != nil {
		return contract.ClientHeader
	}
	return ""
}

// seed is that of the user, or derived from the UID: so an operator that
// restarts plans the same run, and two runs of one spec do not send the same
// random values.
func seed(lt *v1beta1.LoadTest) int64 {
	if lt.Spec.RandomSeed != nil {
		return *lt.Spec.RandomSeed
	}
	h := fnv.New64a()
	h.Write([]byte(lt.UID)) // never fails
	return int64(h.Sum64())
}

// Aborts says whether a threshold aborts, so that steps are to be judged while they run.
func Aborts(spec *v1beta1.LoadTestSpec) bool {
	return slices.ContainsFunc(spec.Thresholds, func(t v1beta1.Threshold) bool {
		return t.OnBreach == v1beta1.BreachAbort
	})
}
