package assemble

import (
	"strings"
	"testing"
	"time"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/loadworker/replay"
)

const aLine = "a - - [28/Nov/2026:12:00:00 +0000] \"GET / HTTP/1.1\" 200 1\n"

// replaying is an assignment whose only step sends a log.
func replaying(path string) *workerv1.Assignment {
	return &workerv1.Assignment{
		Workers: 1, Target: &workerv1.Target{Url: "http://127.0.0.1:1", TimeoutNanos: int64(time.Second), AllowSpecialAddresses: true},
		Requests: []*workerv1.Request{{Name: "all", Weight: 1, Method: "GET", Path: "/"}},
		Replay:   &workerv1.Replay{File: path, SpeedMicros: 1e6, Methods: []string{"GET"}, Routes: []*workerv1.Route{{}}},
		Steps: []*workerv1.Step{{
			Share: &workerv1.Share{Stride: 1}, Load: &workerv1.Step_Recorded{Recorded: &workerv1.Recorded{DurationNanos: int64(time.Second)}},
		}},
	}
}

// No worker trusts the operator's words about a log.
func TestReplaysThatAWorkerRefuses(t *testing.T) {
	of := func() *workerv1.Assignment { return replaying(file(t, strings.Repeat(aLine, 3))) }
	wantInvalid(t, of, map[string]invalid{
		"no log":               {func(a *workerv1.Assignment) { a.Replay = nil }, "replay: a step sends a log, and there is none"},
		"no file":              {func(a *workerv1.Assignment) { a.Replay.File += ".old" }, "spec.replay.from: read the log: "},
		"an empty file":        {func(a *workerv1.Assignment) { a.Replay.File = file(t, "") }, "spec.replay.from: the log is empty"},
		"no speed":             {func(a *workerv1.Assignment) { a.Replay.SpeedMicros = 0 }, "replay: speed: must be positive, is 0 millionths"},
		"no methods":           {func(a *workerv1.Assignment) { a.Replay.Methods = nil }, "replay: methods: there must be at least one"},
		"CONNECT":              {func(a *workerv1.Assignment) { a.Replay.Methods = []string{"CONNECT"} }, "replay: methods: there must be at least one, and CONNECT cannot be sent"},
		"no routes":            {func(a *workerv1.Assignment) { a.Replay.Routes = nil }, "replay: routes: there must be at least one"},
		"a route to nowhere":   {func(a *workerv1.Assignment) { a.Replay.Routes[0].Request = 1 }, "replay: routes[0]: needs a path, and one of 1 requests"},
		"no expression":        {func(a *workerv1.Assignment) { a.Replay.Routes[0].Path = "(" }, "spec.replay.routes[0].path: error parsing regexp"},
		"unknown fields":       {func(a *workerv1.Assignment) { a.Replay.Fields = "x" }, "spec.replay.fields: "},
		"no time":              {func(a *workerv1.Assignment) { a.Steps[0].GetRecorded().DurationNanos = 0 }, "replay: step 0 lasts 0s, which is not above 0"},
		"a worker beyond all":  {func(a *workerv1.Assignment) { a.Worker = 1 }, "replay: worker 1 is not one of 1"},
		"a warm-up":            {func(a *workerv1.Assignment) { a.Steps[0].WarmUpNanos = 1 }, "a log has no warm-up"},
		"a second that is too": {func(a *workerv1.Assignment) { a.Replay.MaxRateMicros = 2e6 }, "more requests are due than spec.replay.maxRate permits"},
		"two lengths": {func(a *workerv1.Assignment) {
			a.Steps = append(a.Steps, &workerv1.Step{Index: 1, Share: &workerv1.Share{Stride: 1}, Load: &workerv1.Step_Recorded{Recorded: &workerv1.Recorded{DurationNanos: 7}}})
		}, "replay: step 1 lasts 7ns, which is not above 0 or not as long as another that sends the log"},
		"vegeta": {func(a *workerv1.Assignment) { a.Driver = workerv1.Driver_DRIVER_VEGETA }, "worker.driver: Vegeta drives rates, and step 0 has none; use driver Auto"},
	})
}

// The memory of a log is counted before the worker takes it.
func TestALogTakesMemory(t *testing.T) {
	with, without := replaying(""), replaying("")
	without.Replay = nil
	if more := memoryNeed(with).base - memoryNeed(without).base; more != replay.Memory {
		t.Errorf("a log takes %d bytes, want %d", more, replay.Memory)
	}
}
