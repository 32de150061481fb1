package main

import (
	"time"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
)

// timeout is longer than anything here takes.
const timeout = 60 * time.Second

// micro is how rates are counted: requests per 1,000,000 seconds.
const micro = 1_000_000

// step is a step as all workers share it.
type step struct {
	total int64
	load  *workerv1.Step // its oneof only
}

// closedUsers send as fast as replies come.
func closedUsers(users int64, d time.Duration) step {
	return step{users, &workerv1.Step{Load: &workerv1.Step_ClosedUsers{
		ClosedUsers: &workerv1.ClosedUsers{DurationNanos: int64(d)}}}}
}

// pacedUsers send that many requests a second together.
func pacedUsers(users, perSecond int64, d time.Duration) step {
	return step{users, &workerv1.Step{Load: &workerv1.Step_PacedUsers{
		PacedUsers: &workerv1.PacedUsers{TotalRateMicros: perSecond * micro, DurationNanos: int64(d)}}}}
}

// burst is one request of each user.
func burst(users int64) step {
	return step{users, &workerv1.Step{Load: &workerv1.Step_Burst{
		Burst: &workerv1.Burst{RequestsPerUser: 1, LimitNanos: int64(2 * timeout)}}}}
}

// arrivals come whether or not others were answered.
func arrivals(perSecond int64, d time.Duration) step {
	return step{perSecond * int64(d/time.Second), &workerv1.Step{Load: &workerv1.Step_Arrivals{
		Arrivals: &workerv1.Arrivals{TotalRateMicros: perSecond * micro, DurationNanos: int64(d)}}}}
}

// assignment is the share of worker w of n: every n-th user or hit. The path
// ends in the request's number, so that the server knows which it was.
func assignment(url string, w, n int32, steps ...step) *workerv1.Assignment {
	a := &workerv1.Assignment{
		Run: "bench", Worker: w, Workers: n, Seed: 1,
		Target:   &workerv1.Target{Url: url, TimeoutNanos: int64(timeout), AllowSpecialAddresses: true},
		Requests: []*workerv1.Request{{Name: "get", Type: "Read", Weight: 1, Method: "GET", Path: "/${seq}"}},
	}
	for i, s := range steps {
		first, stride := int64(w), int64(n)
		a.Steps = append(a.Steps, &workerv1.Step{
			Index: int32(i), Total: s.total, Load: s.load.GetLoad(),
			Share: &workerv1.Share{First: first, Stride: stride, Count: max(0, (s.total-first+stride-1)/stride)},
		})
	}
	return a
}
