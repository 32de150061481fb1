package workertest

import (
	"time"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
)

// Run is the run of every Assignment.
const Run = "run-1"

// Assignment is that of the only worker of a run. Its one request has the user's
// number as its path.
func Assignment(url string, steps ...*workerv1.Step) *workerv1.Assignment {
	return &workerv1.Assignment{
		Run: Run, Workers: 1,
		Target: &workerv1.Target{Url: url, TimeoutNanos: int64(time.Minute), AllowSpecialAddresses: true},
		Requests: []*workerv1.Request{
			{Name: "read", Type: "Read", Weight: 1, Method: "GET", Path: "/${user}"},
		},
		Steps: steps,
	}
}

// Burst is a step in which each user sends a number of requests.
func Burst(index int32, users int64, each int32) *workerv1.Step {
	return &workerv1.Step{
		Index: index, Total: users, Share: &workerv1.Share{Stride: 1, Count: users},
		Load: &workerv1.Step_Burst{Burst: &workerv1.Burst{RequestsPerUser: each, LimitNanos: int64(time.Hour)}},
	}
}

// ClosedUsers is a step in which users send for some time.
func ClosedUsers(users int64, d time.Duration) *workerv1.Step {
	return &workerv1.Step{
		Total: users, Share: &workerv1.Share{Stride: 1, Count: users},
		Load: &workerv1.Step_ClosedUsers{ClosedUsers: &workerv1.ClosedUsers{DurationNanos: int64(d)}},
	}
}
