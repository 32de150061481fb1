package solo

import (
	"strings"
	"testing"
	"time"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/loadworker/session"
	"github.com/loadtest-dev/loadtest-operator/test/groundtruth"
)

func assignment(url, path string) *workerv1.Assignment {
	return &workerv1.Assignment{
		Target: &workerv1.Target{Url: url, TimeoutNanos: int64(time.Minute), AllowSpecialAddresses: true},
		Requests: []*workerv1.Request{{
			Name: "get", Weight: 1, Method: "GET", Path: path, ExpectedStatus: []int32{418},
			Headers: []*workerv1.Header{{Name: "X-Client", Value: "c${user}"}},
		}},
		ClientHeader: "X-Client",
	}
}

// What an assignment says reaches the runner: path, expectation and client.
func TestNewRunner(t *testing.T) {
	s, err := groundtruth.Start(groundtruth.Config{Record: 10, Routes: map[string]groundtruth.Route{"a": {Reply: groundtruth.Status(418, 1)}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	r, err := NewRunner(assignment(s.URL(), "/a/${seq}"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	x := r.Start(session.StepOf(&workerv1.Step{Total: 2, Share: &workerv1.Share{Stride: 1, Count: 2}, Load: &workerv1.Step_Burst{
		Burst: &workerv1.Burst{RequestsPerUser: 1, LimitNanos: int64(time.Minute)},
	}}), time.Now())
	<-x.Done()
	m, err := x.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	if m.Requests[0].Expected != 2 || len(m.Clients) != 2 || s.Counters().Routes["a"] != 2 {
		t.Errorf("%d expected responses of %d clients, %v served; want 2 of each", m.Requests[0].Expected, len(m.Clients), s.Counters().Routes)
	}
}

func TestNewRunnerRefuses(t *testing.T) {
	tests := map[string]struct {
		assignment *workerv1.Assignment
		want       string
	}{
		"a path":     {assignment("http://x", "x"), "must begin with a slash"},
		"a target":   {assignment("ftp://x", "/"), "http or https"},
		"no timeout": {&workerv1.Assignment{Target: &workerv1.Target{Url: "http://x"}, Requests: assignment("", "/").Requests}, "timeout"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := NewRunner(tt.assignment, Options{}); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("NewRunner = %v, want an error that contains %q", err, tt.want)
			}
		})
	}
}
