package plan

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
)

// checkBaseline refuses a selector with keys that no label can have: it would select nothing.
func checkBaseline(spec *v1beta1.LoadTestSpec) *Refusal {
	if spec.Baseline == nil {
		return nil
	}
	for _, key := range slices.Sorted(maps.Keys(spec.Baseline.Selector)) {
		if problems := validation.IsQualifiedName(key); len(problems) > 0 {
			return invalid("spec.baseline.selector: %q cannot be the key of a label: %s.", key, strings.Join(problems, "; "))
		}
	}
	return nil
}
