package lifecycle_test

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
)

// Digests that a worker may say.
var (
	oneDigest   = "sha256:" + strings.Repeat("1", 64)
	otherDigest = "sha256:" + strings.Repeat("2", 64)
)

// All workers encode by the same descriptors, or none begins.
func TestWorkersOfOtherDescriptorsDoNotBegin(t *testing.T) {
	worker := func(target, control1 string) exchange.Worker {
		return there(exchange.Worker{Connected: true, Ready: true, Targets: 2, Answers: 2, Descriptors: target, ControlDescriptors: control1})
	}
	three := func(a, b, c string) []exchange.Worker {
		return []exchange.Worker{worker(a, ""), worker(b, ""), worker(c, "")}
	}
	busy := there(exchange.Worker{Connected: true, Message: "target.grpc: being asked"})
	tests := map[string]struct {
		versus, noCalls bool
		asks            bool // by a call, before the first step
		given           bool // the descriptors, by a ConfigMap
		workers         []exchange.Worker
		phase           v1beta1.Phase
		reason          string
		message         string
	}{
		"the same":             {workers: []exchange.Worker{worker(oneDigest, ""), worker(oneDigest, otherDigest), worker(oneDigest, "")}, phase: v1beta1.PhaseRunning, reason: v1beta1.ReasonAllReady},
		"one is not ready yet": {workers: []exchange.Worker{busy, worker(oneDigest, ""), worker(oneDigest, "")}, phase: v1beta1.PhaseStarting, reason: v1beta1.ReasonWaiting},
		"one differs": {
			workers: three(oneDigest, oneDigest, otherDigest), phase: v1beta1.PhaseFinished, reason: v1beta1.ReasonDescriptorsDiffer,
			message: "1 of 3 workers: target.grpc: worker 2 encodes calls by descriptors sha256:222222222222, and worker 0 by sha256:111111111111: replicas of the target differ; wait until its rollout has ended, or set target.grpc.descriptorsFrom.",
		},
		"one differs while another is not ready": {workers: []exchange.Worker{busy, worker(oneDigest, ""), worker(otherDigest, "")}, phase: v1beta1.PhaseFinished, reason: v1beta1.ReasonDescriptorsDiffer},
		"one was given others": {
			given: true, workers: three(oneDigest, otherDigest, oneDigest), phase: v1beta1.PhaseFinished, reason: v1beta1.ReasonDescriptorsDiffer,
			message: "1 of 3 workers: target.grpc: worker 1 encodes calls by descriptors sha256:222222222222, and worker 0 by sha256:111111111111: the content of descriptorsFrom was changed while the workers started; create the LoadTest again.",
		},
		"one does not say": {
			workers: three(oneDigest, "", oneDigest), phase: v1beta1.PhaseFinished, reason: v1beta1.ReasonInvalidSpec,
			message: "1 of 3 workers: grpc: the worker does not report by which descriptors it encodes calls; use a worker image of the operator's version.",
		},
		"a preflight alone is encoded by others": {
			noCalls: true, asks: true, workers: three(oneDigest, oneDigest, otherDigest), phase: v1beta1.PhaseFinished, reason: v1beta1.ReasonDescriptorsDiffer,
		},
		"a preflight of both targets": {
			versus: true, noCalls: true, asks: true, workers: three(oneDigest, oneDigest, oneDigest), phase: v1beta1.PhaseFinished, reason: v1beta1.ReasonInvalidSpec,
		},
		"without calls":      {noCalls: true, workers: []exchange.Worker{worker(oneDigest, oneDigest), worker(oneDigest, ""), worker("", "")}, phase: v1beta1.PhaseRunning, reason: v1beta1.ReasonAllReady},
		"two, without calls": {versus: true, noCalls: true, workers: []exchange.Worker{worker(oneDigest, oneDigest), worker(oneDigest, oneDigest), worker(oneDigest, oneDigest)}, phase: v1beta1.PhaseRunning, reason: v1beta1.ReasonAllReady},
		"two targets":        {versus: true, workers: []exchange.Worker{worker(oneDigest, otherDigest), worker(oneDigest, otherDigest), worker(oneDigest, otherDigest)}, phase: v1beta1.PhaseRunning, reason: v1beta1.ReasonAllReady},
		"the control differs": {
			message: "1 of 3 workers: versus.target: worker 1 encodes calls by descriptors sha256:222222222222, and worker 0 by sha256:111111111111: replicas of the target differ; wait until its rollout has ended, or set target.grpc.descriptorsFrom.",
			versus:  true, workers: []exchange.Worker{worker(oneDigest, oneDigest), worker(oneDigest, otherDigest), worker(oneDigest, oneDigest)}, phase: v1beta1.PhaseFinished, reason: v1beta1.ReasonDescriptorsDiffer},
		"nothing of the control": {versus: true, workers: three(oneDigest, oneDigest, oneDigest), phase: v1beta1.PhaseFinished, reason: v1beta1.ReasonInvalidSpec},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			spec := ladder()
			if tt.versus {
				spec = comparing()
			}
			if !tt.noCalls {
				spec.Requests = []v1beta1.Request{{Name: "home", GRPC: &v1beta1.Call{Method: "a.B/C"}}}
			}
			if tt.asks {
				spec.Preflight = []v1beta1.Preflight{{GRPC: &v1beta1.Call{Method: "a.B/C"}}}
			}
			if tt.given {
				spec.Target.GRPC = &v1beta1.TargetGRPC{DescriptorsFrom: &v1beta1.Content{}}
			}
			lt := accepted(spec)
			s := lifecycle.Decide(lt, policy.Rules{}, lifecycle.Observed{Job: lifecycle.JobPresent, Workers: tt.workers}, began.Add(time.Second)).Status
			ready := meta.FindStatusCondition(s.Conditions, v1beta1.ConditionWorkersReady)
			if s.Phase != tt.phase || ready.Reason != tt.reason || tt.message != "" && ready.Message != tt.message {
				t.Errorf("phase %s, WorkersReady is %s: %s; want %s, %s: %s", s.Phase, ready.Reason, ready.Message, tt.phase, tt.reason, tt.message)
			}
			target, other := s.Descriptors, ""
			if s.Versus != nil {
				other = s.Versus.Descriptors
			}
			if begun := tt.phase == v1beta1.PhaseRunning && !tt.noCalls; begun && (target != tt.workers[0].Descriptors || other != tt.workers[0].ControlDescriptors) || !begun && target+other != "" {
				t.Errorf("the status has %q and %q", target, other)
			}
			if s.Phase == v1beta1.PhaseFinished && s.Verdict != v1beta1.VerdictError {
				t.Errorf("verdict %s", s.Verdict)
			}
		})
	}
}
