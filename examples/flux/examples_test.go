package flux

import (
	"os"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

func TestMain(m *testing.M) { apiserver.Start(m) }

func read(t *testing.T, file string) string {
	t.Helper()
	content, err := os.ReadFile(file)
	must.Succeed(t, err)
	return string(content)
}

// TestAPIServerTakesExamples creates what Kustomizations apply in a namespace, whose API
// server refuses fields that it does not know.
func TestAPIServerTakesExamples(t *testing.T) {
	c := client.WithFieldValidation(apiserver.Client(t), metav1.FieldValidationStrict)
	ns := apiserver.Namespace(t)
	for _, file := range []string{"gate/loadtest.yaml", "checkout/released.yaml"} {
		o := &unstructured.Unstructured{}
		if err := yaml.UnmarshalStrict([]byte(read(t, file)), &o.Object); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		o.SetNamespace(ns)
		must.Report(t, file, c.Create(t.Context(), o))
		if spec, _ := o.Object["spec"].(map[string]any); o.GetKind() == "LoadTest" && (spec["activeDeadlineSeconds"] == nil || spec["startDeadlineSeconds"] == nil) {
			t.Errorf("%s has no deadline, and Flux waits for as long as it takes", file)
		}
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
