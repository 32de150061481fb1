package argocd

import (
	"slices"
	"testing"

	"github.com/argoproj/gitops-engine/pkg/health"
)

// TestHealthFollowsTheLastRunOfASchedule: a schedule is as healthy as what it has tested last, and is waited for
// while a change or a rollout is tested.
func TestHealthFollowsTheLastRunOfASchedule(t *testing.T) {
	const (
		ready  = "conditions: [{type: Ready, status: 'True', reason: Ready, message: m}]"
		passed = ready + ", lastFinished: {name: nightly-1, verdict: Passed}"
	)
	vm := engine(t)
	for name, test := range map[string]struct {
		spec, status string
		want         health.HealthStatus
		actions      []string
	}{
		"not seen":           {"{}", "{observedGeneration: -1}", health.HealthStatus{Status: health.HealthStatusProgressing, Message: "The operator has not seen this generation yet."}, []string{"suspend"}},
		"another generation": {"{}", "{observedGeneration: 1, " + passed + "}", health.HealthStatus{Status: health.HealthStatusProgressing, Message: "The operator has not seen this generation yet."}, []string{"suspend"}},
		"cannot start": {"{}", "{observedGeneration: 2, conditions: [{type: Ready, status: 'False', reason: InvalidSchedule, message: schedule cannot be read.}]}",
			health.HealthStatus{Status: health.HealthStatusDegraded, Message: "InvalidSchedule: schedule cannot be read."}, []string{"suspend"}},
		"suspended":           {"{suspend: true}", "{observedGeneration: 2, " + passed + "}", health.HealthStatus{Status: health.HealthStatusSuspended, Message: "Suspended: no LoadTest starts."}, []string{"resume"}},
		"nothing has run":     {"{suspend: false}", "{observedGeneration: 2, " + ready + "}", health.HealthStatus{Status: health.HealthStatusHealthy, Message: "No LoadTest has finished yet."}, []string{"suspend"}},
		"passed":              {"{}", "{observedGeneration: 2, " + passed + "}", health.HealthStatus{Status: health.HealthStatusHealthy, Message: "LoadTest nightly-1: Passed."}, []string{"suspend"}},
		"runs by the clock":   {"{}", "{observedGeneration: 2, active: [nightly-2], " + passed + "}", health.HealthStatus{Status: health.HealthStatusHealthy, Message: "LoadTest nightly-1: Passed."}, []string{"suspend"}},
		"failed":              {"{}", "{observedGeneration: 2, lastFinished: {name: nightly-1, verdict: Failed}}", health.HealthStatus{Status: health.HealthStatusDegraded, Message: "LoadTest nightly-1: Failed."}, []string{"suspend"}},
		"inconclusive":        {"{}", "{observedGeneration: 2, lastFinished: {name: nightly-1, verdict: Inconclusive}}", health.HealthStatus{Status: health.HealthStatusDegraded, Message: "LoadTest nightly-1: Inconclusive."}, []string{"suspend"}},
		"change not tested":   {"{onChange: true}", "{observedGeneration: 2, change: {hash: a}, " + passed + "}", health.HealthStatus{Status: health.HealthStatusProgressing, Message: "The change is not tested yet."}, []string{"suspend"}},
		"change not seen":     {"{onChange: true}", "{observedGeneration: 2, " + passed + "}", health.HealthStatus{Status: health.HealthStatusProgressing, Message: "The change is not tested yet."}, []string{"suspend"}},
		"change is tested":    {"{onChange: true}", "{observedGeneration: 2, active: [c-2], change: {hash: a, run: c-2}, " + passed + "}", health.HealthStatus{Status: health.HealthStatusProgressing, Message: "LoadTest c-2 runs."}, []string{"suspend"}},
		"change was tested":   {"{onChange: true}", "{observedGeneration: 2, change: {hash: a, run: nightly-1}, " + passed + "}", health.HealthStatus{Status: health.HealthStatusHealthy, Message: "LoadTest nightly-1: Passed."}, []string{"suspend"}},
		"rollout is tested":   {"{onRollout: {name: a}}", "{observedGeneration: 2, active: [r-2], rollout: {uid: u, run: r-2}, " + passed + "}", health.HealthStatus{Status: health.HealthStatusProgressing, Message: "LoadTest r-2 runs."}, []string{"suspend"}},
		"rollout was tested":  {"{onRollout: {name: a}}", "{observedGeneration: 2, rollout: {uid: u, run: nightly-1}, " + passed + "}", health.HealthStatus{Status: health.HealthStatusHealthy, Message: "LoadTest nightly-1: Passed."}, []string{"suspend"}},
		"waits for a rollout": {"{onRollout: {name: a}}", "{observedGeneration: 2, " + passed + "}", health.HealthStatus{Status: health.HealthStatusHealthy, Message: "LoadTest nightly-1: Passed."}, []string{"suspend"}},
	} {
		t.Run(name, func(t *testing.T) {
			o := object(t, "{apiVersion: loadtest.dev/v1beta1, kind: LoadTestSchedule, metadata: {name: nightly, generation: 2}, spec: "+test.spec+", status: "+test.status+"}")
			got := healthOf(t, vm, o)
			if *got != test.want {
				t.Errorf("it is %+v, want %+v", *got, test.want)
			}
			actions := offered(t, vm, o)
			if !slices.Equal(actions, test.actions) {
				t.Errorf("%q are offered, want %q", actions, test.actions)
			}
			want := map[string]string{"suspend": `{"spec":{"suspend":true}}`, "resume": `{"spec":{"suspend":false}}`}[actions[0]]
			if patch := patchOf(t, vm, o, actions[0]); patch != want {
				t.Errorf("%s: the patch is %s, want %s", actions[0], patch, want)
			}
			t.Attr("seen", string(got.Status)+": "+got.Message)
		})
	}
}
