package v1beta1_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/admission"
	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// TestAdmissionIsTheAPIServers compares what a run without a cluster makes of a LoadTest
// with what the API server makes of it: its defaults, and its refusals to the letter.
func TestAdmissionIsTheAPIServers(t *testing.T) {
	rules, err := admission.OfLoadTests()
	must.Succeed(t, err)
	c, namespace := strictClient(t), apiserver.Namespace(t)
	compare := func(t *testing.T, patch string) {
		object := loadTest(t, namespace, patch)
		admitted, refusal := rules.Admit(t.Context(), object)
		err := c.Create(t.Context(), object, client.DryRunAll)
		if (refusal == nil) != (err == nil) || err != nil && refusal.Error() != err.Error() {
			t.Errorf("of %s:\n%v\nbut the API server says\n%v", patch, refusal, err)
		}
		if err != nil || refusal != nil {
			return
		}
		if diff := cmp.Diff(specOf(t, object), admitted.Spec); diff != "" {
			t.Errorf("%s with defaults (-API server +here):\n%s", patch, diff)
		}
	}
	for _, test := range validations {
		t.Run(test.name, func(t *testing.T) {
			compare(t, test.valid)
			compare(t, test.invalid)
		})
	}
}

func specOf(t *testing.T, object *unstructured.Unstructured) v1beta1.LoadTestSpec {
	t.Helper()
	var lt v1beta1.LoadTest
	must.Succeed(t, runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &lt))
	return lt.Spec
}

func TestAdmissionRefusesUnknownFields(t *testing.T) {
	rules, err := admission.OfLoadTests()
	must.Succeed(t, err)
	object := loadTest(t, "default", "{leader: {}, requests: [{paht: /}]}")
	_, err = rules.Admit(t.Context(), object)
	const want = `strict decoding error: unknown field "spec.leader", unknown field "spec.requests[0].paht"`
	if err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

// A status is the operator's: none that a manifest brings may make a run look finished.
func TestAdmissionDropsTheStatus(t *testing.T) {
	rules, err := admission.OfLoadTests()
	must.Succeed(t, err)
	object := loadTest(t, "default", "{}")
	object.Object["status"] = map[string]any{"phase": "Finished", "verdict": "Passed"}
	lt, err := rules.Admit(t.Context(), object)
	must.Succeed(t, err)
	same.As(t, "status", v1beta1.LoadTestStatus{ObservedGeneration: -1, Phase: v1beta1.PhasePending}, lt.Status)
	if object.Object["status"] == nil {
		t.Error("the manifest was changed")
	}
}
