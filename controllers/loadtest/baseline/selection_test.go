package baseline_test

import (
	"testing"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/baseline"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// Of a selector, the baseline must have passed and have the labels when it is copied, too: another
// LoadTest may have its name by then, and a file that stands for it may be of any LoadTest.
func TestSelectedBaseline(t *testing.T) {
	for name, tc := range map[string]struct {
		verdict v1beta1.Verdict
		labels  map[string]string
		want    string
	}{
		"passed":           {v1beta1.VerdictPassed, map[string]string{"app": "shop", "branch": "main", "more": "x"}, ""},
		"failed":           {v1beta1.VerdictFailed, map[string]string{"app": "shop", "branch": "main"}, "spec.baseline.selector: LoadTest before has the verdict Failed; a selector selects those that passed."},
		"another branch":   {v1beta1.VerdictPassed, map[string]string{"app": "shop", "branch": "mine"}, "spec.baseline.selector: LoadTest before does not have the labels app=shop,branch=main."},
		"without labels":   {v1beta1.VerdictPassed, nil, "spec.baseline.selector: LoadTest before does not have the labels app=shop,branch=main."},
		"it did not pass":  {v1beta1.VerdictInconclusive, map[string]string{"app": "shop", "branch": "main"}, "spec.baseline.selector: LoadTest before has the verdict Inconclusive; a selector selects those that passed."},
		"it has no result": {"", map[string]string{"app": "shop", "branch": "main"}, "spec.baseline.selector: LoadTest before has the verdict ; a selector selects those that passed."},
	} {
		t.Run(name, func(t *testing.T) {
			spec, finished := ladder(), before()
			spec.Baseline = &v1beta1.Baseline{Selector: map[string]v1beta1.LabelValue{"branch": "main", "app": "shop"}}
			finished.Status.Verdict, finished.Labels = tc.verdict, tc.labels
			_, refusal := baseline.Copy(spec, plan.Steps(spec), finished)
			got := ""
			if refusal != nil {
				got = refusal.Message
			}
			same.As(t, "selection", tc.want, got)
		})
	}
}
