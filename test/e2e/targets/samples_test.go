//go:build e2e

package targets

import (
	"os"
	"slices"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/audit"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// samplesPreset is the variant of the shortener against which the samples run: with a
// cache, so that two busy cores serve a thousand users.
const samplesPreset = "seed-000-v4"

// TestSamples runs the samples with which people begin, as they stand, against the
// chart of targets as it stands.
func TestSamples(t *testing.T) {
	cluster.OnlyFull(t)
	t.Parallel()
	presets, err := audit.Presets(os.DirFS(cluster.TargetsChart))
	must.Succeed(t, err)
	i := slices.IndexFunc(presets, func(p audit.Preset) bool { return p.Name == samplesPreset })
	if i < 0 {
		t.Fatalf("the chart has no preset %s", samplesPreset)
	}
	x := &trial{Line: audit.Line{Preset: presets[i]}, ns: cluster.Namespace(t)}
	x.install(t.Context(), t)
	for _, name := range []string{"hello", "shortener-ladder"} {
		t.Run(name, func(t *testing.T) {
			cluster.MustCommand(t, "kubectl", "apply", "--namespace", x.ns, "--filename", "../../../config/samples/"+name+".yaml")
			lt := &v1beta1.LoadTest{}
			lt.Namespace, lt.Name = x.ns, name
			cluster.Finish(t, lt)
			cluster.Answered(t, lt)
		})
	}
}
