package flux

import (
	"os"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/test/must"
)

func read(t *testing.T, file string) string {
	t.Helper()
	content, err := os.ReadFile(file)
	must.Succeed(t, err)
	return string(content)
}

// TestTheGateEnds: Flux waits for a LoadTest as long as that takes. That the API server takes the
// manifests is tested in api/v1beta1, by TestManifestsOfPipelinesAreAccepted.
func TestTheGateEnds(t *testing.T) {
	o := &unstructured.Unstructured{}
	must.Succeed(t, yaml.UnmarshalStrict([]byte(read(t, "gate/loadtest.yaml")), &o.Object))
	spec, _ := o.Object["spec"].(map[string]any)
	if o.GetKind() != "LoadTest" || spec["activeDeadlineSeconds"] == nil || spec["startDeadlineSeconds"] == nil {
		t.Errorf("it has no deadline: %v", o.Object)
	}
}

// TestPageHasTheGate: the manifest of the page is the one that was run.
func TestPageHasTheGate(t *testing.T) {
	_, block, found := strings.Cut(read(t, "../../docs/flux.md"), "```yaml\n")
	block, _, closed := strings.Cut(block, "```")
	if !found || !closed {
		t.Fatal("the page has no manifest")
	}
	if !strings.Contains(read(t, "kustomizations.yaml"), block) {
		t.Errorf("kustomizations.yaml has no\n%s", block)
	}
}
