package argocd

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/argoproj/argo-cd/v3/util/lua"
	"github.com/argoproj/argo-cd/v3/util/settings"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes/fake"
	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/hack/components/must"
)

// repository is the root of it, as a test runs in its package's folder.
const repository = "../../.."

// engine is Argo CD's Lua engine with the scripts that we ship, as Argo CD reads them from
// its ConfigMap.
func engine(t *testing.T) lua.VM {
	t.Helper()
	var cm corev1.ConfigMap
	content, err := os.ReadFile(filepath.Join(repository, "config/argocd/argocd-cm.yaml"))
	must.Succeed(t, err)
	must.Succeed(t, yaml.UnmarshalStrict(content, &cm))
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
		Namespace: cm.Namespace, Name: "argocd-secret", Labels: map[string]string{"app.kubernetes.io/part-of": "argocd"},
	}}
	manager := settings.NewSettingsManager(t.Context(), fake.NewClientset(&cm, secret), cm.Namespace)
	overrides, err := manager.GetResourceOverrides()
	must.Succeed(t, err)
	return lua.VM{ResourceOverrides: overrides}
}

// document is an object, and what its first comment says of it.
type document struct {
	name string
	*unstructured.Unstructured
}

// documents reads objects from a file of the repository.
func documents(t *testing.T, file string) (all []document) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(repository, file))
	must.Succeed(t, err)
	for _, text := range bytes.Split(content, []byte("\n---\n")) {
		text = bytes.TrimPrefix(text, []byte("---\n"))
		name := filepath.Base(file)
		if first, _, _ := strings.Cut(string(text), "\n"); strings.HasPrefix(first, "# ") {
			name = strings.TrimPrefix(first, "# ")
		}
		all = append(all, document{name, object(t, string(text))})
	}
	return all
}

// object is one of YAML, with numbers as the API's client has them.
func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	raw, err := yaml.YAMLToJSON([]byte(text))
	must.Succeed(t, err)
	o := &unstructured.Unstructured{}
	must.Succeed(t, o.UnmarshalJSON(raw))
	return o
}

// statuses are LoadTests as our operator wrote them, in the stories of its tests.
func statuses(t *testing.T) []document {
	t.Helper()
	all := documents(t, "controllers/loadtest/lifecycle/testdata/statuses.yaml")
	if len(all) < 30 {
		t.Fatalf("only %d statuses", len(all))
	}
	return all
}

func field(o *unstructured.Unstructured, path ...string) string {
	value, _, _ := unstructured.NestedString(o.Object, path...)
	return value
}

func flag(o *unstructured.Unstructured, path ...string) bool {
	value, _, _ := unstructured.NestedBool(o.Object, path...)
	return value
}

// conditionTrue says whether a condition is True.
func conditionTrue(o *unstructured.Unstructured, kind string) bool {
	conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, c := range conditions {
		if c, ok := c.(map[string]any); ok && c["type"] == kind {
			return c["status"] == "True"
		}
	}
	return false
}
