package plan

import (
	"fmt"
	"hash/fnv"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
)

// perWorker is how many users, or requests per second, one worker is given when
// spec.parallelism is absent.
const perWorker = 2500

// Workers is how many workers share the load: spec.parallelism, or enough for
// the largest step. A worker may get no share of a small step.
func Workers(spec *v1alpha1.LoadTestSpec) int32 {
	if spec.Parallelism != nil {
		return max(*spec.Parallelism, 1)
	}
	workers := int64(1)
	for _, s := range Steps(spec) {
		workers = max(workers,
			divideUp(int64(s.Users), perWorker),
			divideUp(max(s.RateMicros, s.EndRateMicros), perWorker*micro))
	}
	return int32(min(workers, workerv1.MaxWorkers))
}

// Assignments are the shares of the workers, by number. They share their
// target, requests, data and preflight: read them, do not change them.
func Assignments(lt *v1alpha1.LoadTest) ([]*workerv1.Assignment, error) {
	if refusal := checkSpec(&lt.Spec); refusal != nil {
		return nil, fmt.Errorf("plan: %w", refusal)
	}
	workers := Workers(&lt.Spec)
	steps := Steps(&lt.Spec)
	target, requests, data, preflight := target(lt), requests(&lt.Spec), data(&lt.Spec), preflight(&lt.Spec)
	list := make([]*workerv1.Assignment, workers)
	for w := range workers {
		list[w] = &workerv1.Assignment{
			Run:          string(lt.UID),
			Worker:       w,
			Workers:      workers,
			Target:       target,
			Requests:     requests,
			Steps:        workerSteps(steps, w, workers),
			ClientHeader: clientHeader(&lt.Spec),
			Seed:         seed(lt),
			Data:         data,
			Setup:        setup(&lt.Spec, w, workers),
			Preflight:    preflight,
		}
	}
	return list, nil
}

// workerSteps are one worker's shares of the steps that send load.
func workerSteps(steps []Step, worker, workers int32) []*workerv1.Step {
	var list []*workerv1.Step
	for _, s := range steps {
		if s.Load() {
			list = append(list, workerStep(s, worker, workers))
		}
	}
	return list
}

func workerStep(s Step, worker, workers int32) *workerv1.Step {
	step := &workerv1.Step{Index: s.Index, Share: share(s.Total, worker, workers), Total: s.Total, WarmUpNanos: int64(s.WarmUp)}
	nanos := int64(s.Duration)
	switch {
	case s.Burst:
		step.Load = &workerv1.Step_Burst{Burst: &workerv1.Burst{RequestsPerUser: s.RequestsPerUser, LimitNanos: nanos}}
	case s.Users == 0:
		step.Load = &workerv1.Step_Arrivals{Arrivals: &workerv1.Arrivals{
			TotalRateMicros: s.RateMicros, EndRateMicros: s.EndRateMicros, DurationNanos: nanos, Poisson: s.Poisson,
		}}
	case s.Scheduled():
		step.Load = &workerv1.Step_PacedUsers{PacedUsers: &workerv1.PacedUsers{TotalRateMicros: s.RateMicros, DurationNanos: nanos}}
	default:
		step.Load = &workerv1.Step_ClosedUsers{ClosedUsers: &workerv1.ClosedUsers{DurationNanos: nanos}}
	}
	return step
}

// share gives worker w of W the numbers w, w+W, w+2W, … below total. So the
// shares are disjoint, leave nothing out and differ by one at most; and since
// neighbours in time belong to different workers, each worker's part of a
// schedule is as even as the whole.
func share(total int64, worker, workers int32) *workerv1.Share {
	first, stride := int64(worker), int64(workers)
	return &workerv1.Share{
		First:  first,
		Stride: stride,
		Count:  divideUp(max(total-first, 0), stride),
	}
}

func divideUp(n, by int64) int64 {
	quotient := n / by
	if n%by > 0 {
		quotient++
	}
	return quotient
}

func clientHeader(spec *v1alpha1.LoadTestSpec) string {
	if contract := spec.RateLimit(); contract != nil {
		return contract.ClientHeader
	}
	return ""
}

// seed is that of the user, or derived from the UID: so an operator that
// restarts plans the same run, and two runs of one spec do not send the same
// random values.
func seed(lt *v1alpha1.LoadTest) int64 {
	if lt.Spec.RandomSeed != nil {
		return *lt.Spec.RandomSeed
	}
	h := fnv.New64a()
	h.Write([]byte(lt.UID)) // never fails
	return int64(h.Sum64())
}
