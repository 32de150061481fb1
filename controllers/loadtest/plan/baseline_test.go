package plan_test

import (
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
)

// A key that no label can have would select nothing, or something else than is written.
func TestSelectorHasKeysOfLabels(t *testing.T) {
	for key, want := range map[string]string{
		"app": "", "example.com/branch": "",
		"app,b": `spec.baseline.selector: "app,b" cannot be the key of a label: `,
		"":      `spec.baseline.selector: "" cannot be the key of a label: `,
	} {
		lt := &v1beta1.LoadTest{Spec: *oneUser()}
		lt.Spec.Baseline = &v1beta1.Baseline{Selector: map[string]v1beta1.LabelValue{key: "x"}}
		_, refusal := plan.New(lt, policy.Everything())
		if (refusal == nil) != (want == "") || refusal != nil && !strings.HasPrefix(refusal.Message, want) {
			t.Errorf("key %q: %v, want %q", key, refusal, want)
		}
	}
}
