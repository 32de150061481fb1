package main

import (
	"fmt"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/test/harness"
)

// timeout is longer than anything here takes.
const timeout = 60 * time.Second

// arrivals is a step with a number of requests per second.
func arrivals(perSecond int64, d time.Duration) v1beta1.Step {
	return harness.Arrivals(fmt.Sprint(perSecond), d)
}

// loadTest is a LoadTest of one request. Its path ends in the request's number, so
// that the server can tell requests apart.
func loadTest(url string, workers int32, steps ...v1beta1.Step) *v1beta1.LoadTest {
	lt := &v1beta1.LoadTest{}
	lt.UID = "bench"
	lt.Spec.Target.URL, lt.Spec.Target.Timeout = url, harness.Lasting(timeout)
	lt.Spec.Requests = []v1beta1.Request{{Name: "get", HTTP: &v1beta1.HTTPRequest{Path: "/${seq}"}}}
	lt.Spec.Parallelism, lt.Spec.Steps = &workers, steps
	return lt
}

// assignment is the share of one of a LoadTest's workers.
func assignment(lt *v1beta1.LoadTest, worker int32) (*workerv1.Assignment, error) {
	assignments, err := harness.Plan(lt)
	if err != nil {
		return nil, err
	}
	return assignments[worker], nil
}
