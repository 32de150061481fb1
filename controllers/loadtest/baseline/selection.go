package baseline

import (
	"fmt"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
)

// Selector selects the LoadTests of spec.baseline.selector, by their labels alone.
func Selector(b *v1beta1.Baseline) labels.Selector { return labels.SelectorFromSet(b.Labels()) }

// None is the refusal of a run whose baseline does not exist.
func None(b *v1beta1.Baseline) *plan.Refusal {
	refuse := refuser(b)
	if b.Selector == nil {
		return refuse("LoadTest %s does not exist.", b.Name)
	}
	if b.Optional {
		return refuse("no LoadTest with labels %s has passed.", Selector(b))
	}
	return refuse("no LoadTest with labels %s has passed; run one without spec.baseline first, or set spec.baseline.optional to true.", Selector(b))
}

// unselected is why spec.baseline.selector does not select a LoadTest; empty: it does, or there is
// none.
func unselected(spec *v1beta1.LoadTestSpec, lt *v1beta1.LoadTest) string {
	b := spec.Baseline
	switch {
	case b == nil || b.Selector == nil:
		return ""
	case lt.Status.Verdict != v1beta1.VerdictPassed:
		return fmt.Sprintf("has the verdict %s; a selector selects those that passed", lt.Status.Verdict)
	case !Selector(b).Matches(labels.Set(lt.Labels)):
		return fmt.Sprintf("does not have the labels %s", Selector(b))
	}
	return ""
}
