package samples

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/hack/seeds/experiment"
	"github.com/loadtest-dev/loadtest-operator/hack/seeds/manifest"
)

// An operator that is not configured runs every sample, and every experiment at its
// published size as well as scaled and repeated.
func TestSamplesKeepTheDefaultLimits(t *testing.T) {
	rules := policy.Everything()
	rules.Limits = policy.Default().For("default").Limits
	check := func(name string, lt *v1beta1.LoadTest) {
		t.Helper()
		if _, refusal := plan.New(lt, rules); refusal != nil {
			t.Errorf("%s: %v", name, refusal)
		}
	}
	for _, file := range slices.Concat(glob(t, "*.yaml"), glob(t, "seeds/*/*.yaml")) {
		if filepath.Base(file) == "kustomization.yaml" {
			continue
		}
		lt := &v1beta1.LoadTest{}
		unmarshal(t, file, lt)
		check(file, lt)
	}
	for _, e := range experiment.All() {
		for _, lt := range rendered(t, e).LoadTests {
			check(e.Name, &lt)
			most := manifest.TwoCores
			most.Repetitions = manifest.MaxRepetitions
			check(e.Name+", as it is run at most", manifest.Scale(&lt, most))
		}
	}
}
