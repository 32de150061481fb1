package assemble

import (
	"fmt"
	"testing"
	"time"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/await"
	"github.com/loadtest-dev/loadtest-operator/test/groundtruth"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// The server's own counts are what the worker reports of sessions, by request and by journey, over each
// protocol and by each driver.
func TestSessionsAgreeWithTheGroundTruth(t *testing.T) {
	const n, half = 20, 10 // the server closes a connection on which nothing comes for 2 s, which many handshakes at once take
	overProtocols(t, rated(n), func(t *testing.T, s *groundtruth.Server, a *workerv1.Assignment, _ string) {
		a.Journeys[0].Steps = a.Journeys[0].Steps[:3] // without the request that leads elsewhere
		a.Requests[3] = &workerv1.Request{Name: "single", Weight: 1, Method: "GET", Path: "/"}
		x := prepared(t, a, testConfig(), ignore)
		step, err := x.Step(0)
		must.Succeed(t, err)
		r := x.Runner(step).Start(step, time.Now().Add(20*time.Millisecond))
		await.True(t, "all sessions have ended", func() bool {
			m := snapshot(t, r)
			return m.Journeys[0].Completed+m.Journeys[0].Failed == half && m.Requests[3].Outcomes[measure.Unfinished] == 0 && m.Sessions.Started == n
		})
		r.Cut()
		<-r.Done()
		got := snapshot(t, r)
		if j := got.Journeys[0]; j.Due != half || j.Started != half || j.Completed != half || got.Sessions != (measure.Sessions{Due: n, Started: n}) {
			t.Errorf("%+v of %d journeys due, %d started, %d completed; %v", got.Sessions, j.Due, j.Started, j.Completed, errorsOf(got))
		}
		var sent []int64
		for i := range got.Requests {
			sent = append(sent, got.Requests[i].Sent)
		}
		truth := counters(t, s)
		want := map[string]int64{"": half, "page": half, "login": half, "second": half, "third": half, "cart": half, "out": 0}
		if fmt.Sprint(truth.Routes) != fmt.Sprint(want) || truth.Bad > 0 || fmt.Sprint(sent) != fmt.Sprint([]int64{half, half, half, half}) || got.Unsent != 0 {
			t.Errorf("the server got %v and %d that were none, want %v; sent %v, %d unsent", truth.Routes, truth.Bad, want, sent, got.Unsent)
		}
	})
}
