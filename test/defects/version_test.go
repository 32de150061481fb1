package defects_test

import (
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report"
	"github.com/loadtest-dev/loadtest-operator/test/groundtruth"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// Defect: the version or strategy of the target is not verified. A target that fails
// the preflight gets no load, and the verdict is about no target. The result of one
// that passes has the values that were verified; that of a run without a preflight
// states that the target was not verified.
func TestTheTargetIsTheOneThatWasMeant(t *testing.T) {
	const workers, users, each = 2, 10, 3
	meant := []v1beta1.Preflight{{
		HTTP: &v1beta1.Query{Path: "/version"},
		Expect: &v1beta1.Expectation{JSON: []v1beta1.ExpectedValue{
			{Path: ".strategy", Equals: v1beta1.JSONText("lua")}, {Path: ".store", Equals: v1beta1.JSONText("redis")},
		}},
	}}
	tests := map[string]struct {
		asks     []v1beta1.Preflight
		about    string
		expose   v1beta1.Exposure
		verdict  v1beta1.Verdict
		verified string
		reported string
		load     int64
	}{
		"another strategy": {
			asks: meant, about: `{"strategy":"hash","store":"redis"}`, verdict: v1beta1.VerdictError,
			verified: `False PreflightFailed preflight: GET /version: .strategy: a string of 4 bytes instead of "lua".`,
			reported: `Target not verified preflight: GET /version: .strategy: a string of 4 bytes instead of "lua".`,
		},
		"another strategy, and the author may see it": {
			asks: meant, about: `{"strategy":"hash","store":"redis"}`, expose: v1beta1.ExposeResponses, verdict: v1beta1.VerdictError,
			verified: `False PreflightFailed preflight: GET /version: .strategy: a string of 4 bytes instead of "lua"; the target sent "hash".`,
			reported: `Target not verified preflight: GET /version: .strategy: a string of 4 bytes instead of "lua"; the target sent "hash".`,
		},
		"the one that was meant": {
			asks: meant, about: `{"strategy":"lua","store":"redis"}`, verdict: v1beta1.VerdictPassed, load: users * each,
			verified: "True PreflightPassed GET /version has .strategy lua, .store redis.",
			reported: "Target verified     GET /version has .strategy lua, .store redis.",
		},
		"no preflight": {
			about: `{"strategy":"hash","store":"redis"}`, verdict: v1beta1.VerdictPassed, load: users * each,
			verified: "Unknown NoPreflight spec.preflight is empty: nothing says which version of the target was tested.",
			reported: "Target not verified spec.preflight is empty: nothing says which version of the target was tested.",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			lt, server := experiment{
				server: routes(map[string]groundtruth.Route{"version": {Reply: groundtruth.JSON(tt.about)}, "api": {}}),
				spec: v1beta1.LoadTestSpec{
					Expose: tt.expose, Preflight: tt.asks, Requests: []v1beta1.Request{get("/api")}, Steps: burst(users, each),
					Parallelism: ptr[int32](workers), Thresholds: []v1beta1.Threshold{atMost(v1beta1.MetricFailureRate, "0%")},
				},
			}.operate(t)
			if lt.Status.Verdict != tt.verdict {
				t.Errorf("the verdict is %s, want %s: %v", lt.Status.Verdict, tt.verdict, lt.Status.Conditions)
			}
			same.As(t, "condition TargetVerified", tt.verified, conditionText(lt, v1beta1.ConditionTargetVerified))
			if page := report.Text(lt); !strings.Contains(page, "\n"+tt.reported+"\n") {
				t.Errorf("the report does not say %q:\n%s", tt.reported, page)
			}
			// The workers have ended, so that the counts are final. The run may end by one
			// worker's refusal before the other asked.
			asked, least := server.Counters().Routes, int64(0)
			if len(tt.asks) > 0 {
				least = 1
			}
			if tt.load > 0 {
				least *= workers
			}
			if n := asked["version"]; asked["api"] != tt.load || n < least || n > workers*int64(len(tt.asks)) {
				t.Errorf("the server got %v, want %d of the load and at least %d questions", asked, tt.load, least)
			}
		})
	}
}
