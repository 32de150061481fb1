//go:build e2e

package e2e

import (
	"os"
	"slices"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/audit"
)

// samplesPreset is the variant of the shortener against which the samples run: with a
// cache, so that two busy cores serve a thousand users.
const samplesPreset = "seed-000-v4"

// TestSamples runs the samples with which people begin, as they stand, against the
// chart of targets as it stands.
func TestSamples(t *testing.T) {
	onlyFull(t)
	t.Parallel()
	presets, err := audit.Presets(os.DirFS(targetsChart))
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(presets, func(p audit.Preset) bool { return p.Name == samplesPreset })
	if i < 0 {
		t.Fatalf("the chart has no preset %s", samplesPreset)
	}
	x := &trial{Line: audit.Line{Preset: presets[i]}, ns: namespace(t)}
	x.install(t.Context(), t)
	for _, name := range []string{"hello", "shortener-ladder"} {
		t.Run(name, func(t *testing.T) {
			mustCommand(t, "kubectl", "apply", "--namespace", x.ns, "--filename", "../../config/samples/"+name+".yaml")
			lt := &v1alpha1.LoadTest{}
			lt.Namespace, lt.Name = x.ns, name
			finish(t, lt, 6*time.Minute)
			answered(t, lt)
		})
	}
}

// answered says that the run took place and that the target gave every request of the
// smallest step the response that the sample expects, which shows that the sample asks
// what the target has.
func answered(t *testing.T, lt *v1alpha1.LoadTest) {
	t.Helper()
	if lt.Status.Phase != v1alpha1.PhaseComplete {
		t.Fatalf("phase %s, verdict %s: %s", lt.Status.Phase, lt.Status.Verdict, condition(lt, v1alpha1.ConditionFailed).Message)
	}
	first := lt.Status.Steps[0].Result
	if first == nil || first.Sent == 0 || first.Expected != first.Sent {
		t.Errorf("step %s has the result %+v, want every response expected", lt.Status.Steps[0].Name, first)
	}
	sent, failed := audit.Sent(lt.Status)
	t.Logf("verdict %s, %d sent, %d failed", lt.Status.Verdict, sent, failed)
}
