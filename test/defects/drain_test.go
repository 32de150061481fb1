package defects_test

import (
	"strings"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/groundtruth"
	"github.com/loadtest-dev/loadtest-operator/test/harness"
)

// Defect: a worker ends in the middle of a step, and what it sent passes for the whole.
// With a worker that is drained with grace, in the only step, nothing of what was sent
// is missing, and the run does not pass for it, whatever the load.
func TestDrainedWorkerDoesNotPassForTheWhole(t *testing.T) {
	// The step ends with its only worker; others send to its end. The worker must not be
	// through on a busy machine before it is drained.
	const alone, length = time.Hour, 15 * time.Second
	slow := []v1beta1.Step{harness.Burst(4, 100)}
	for name, tt := range map[string]struct {
		steps   []v1beta1.Step
		workers int32
		reply   time.Duration
	}{
		"paced users":               {paced(20, "10", alone), 1, 0},
		"arrivals":                  {arrivals("200", alone), 1, 0},
		"arrivals of three":         {arrivals("200", length), 3, 0},
		"users without a rate":      {[]v1beta1.Step{harness.ClosedUsers(4, alone)}, 1, 5 * ms},
		"a burst":                   {slow, 1, 20 * ms},
		"a burst, of two":           {slow, 2, 20 * ms},
		"requests are in flight":    {paced(20, "10", alone), 1, 300 * ms},
		"users without a rate, two": {[]v1beta1.Step{harness.ClosedUsers(4, length)}, 2, 5 * ms},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lt, server := experiment{
				drain: true, server: routes(map[string]groundtruth.Route{"api": {Latency: groundtruth.Fixed(tt.reply)}}),
				spec: v1beta1.LoadTestSpec{Requests: []v1beta1.Request{get("/api")}, Steps: tt.steps, Parallelism: ptr(tt.workers),
					// The server, too, waits for the processors of this machine.
					Thresholds: []v1beta1.Threshold{atMost("downtime", "100%"), atMost("failureRate", "1%")}},
			}.operate(t)
			step := lt.Status.Steps[0]
			met := conditionText(lt, v1beta1.ConditionThresholdsMet)
			if lt.Status.Verdict != v1beta1.VerdictInconclusive || step.State != v1beta1.StepCut || lt.Status.Workers.Lost != 1 {
				t.Errorf("verdict %s, step %s, %d lost; want Inconclusive, Cut, 1: %s", lt.Status.Verdict, step.State, lt.Status.Workers.Lost, met)
			}
			if !strings.HasPrefix(met, "Unknown WorkerLost 1 of ") || !strings.Contains(met, "no sent request is missing") {
				t.Errorf("it says %q", met)
			}
			if planned := step.Load.Requests; planned > 0 && step.Result.Due >= planned {
				t.Errorf("%d of %d were due, want fewer", step.Result.Due, planned)
			}
			// The workers have ended, so that the count is final. What was in flight when the
			// worker was cut may not have come to the server.
			got, sent := server.Counters().Routes["api"], step.Result.Sent
			if got > sent || got < sent-step.Result.Outcomes.Unfinished {
				t.Errorf("the server served %d requests; %d were sent, %d of them unfinished", got, sent, step.Result.Outcomes.Unfinished)
			}
		})
	}
}
