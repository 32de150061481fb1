package baseline

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
)

// Selector selects the LoadTests of spec.baseline.selector, by their labels alone.
func Selector(b *v1beta1.Baseline) labels.Selector { return labels.SelectorFromSet(b.Labels()) }

// IsLater says whether a LoadTest that passed is rather the baseline than another one: it finished
// later or, within the same second, has the later name.
func IsLater(a, other *v1beta1.LoadTest) bool {
	at, then := ptr.Deref(a.Status.CompletionTime, metav1.Time{}), ptr.Deref(other.Status.CompletionTime, metav1.Time{})
	if at.Time.Equal(then.Time) {
		return a.Name > other.Name
	}
	return at.After(then.Time)
}

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
