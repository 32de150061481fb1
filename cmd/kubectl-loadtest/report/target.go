package report

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
)

// verified says whether the target is known to be the one that was meant: what is
// read here is about nothing else. An operator that does not ask says nothing.
func (p *page) verified() {
	c := meta.FindStatusCondition(p.lt.Status.Conditions, v1alpha1.ConditionTargetVerified)
	switch {
	case c == nil:
	case c.Status == metav1.ConditionTrue:
		p.row("Target verified", "%s", c.Message)
	default:
		p.row("Target not verified", "%s", c.Message)
	}
}
