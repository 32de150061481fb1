package v1beta1_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/hack/docs/page"
	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// TestManifestsOfDocumentsAreAccepted gives every whole manifest of our group that a page
// of docs/ shows to the API server, as kubectl apply would.
func TestManifestsOfDocumentsAreAccepted(t *testing.T) {
	names, err := filepath.Glob("../../docs/*.md")
	must.Succeed(t, err)
	namespace, c := apiserver.Namespace(t), strictClient(t)
	shown := map[string]int{}
	for _, name := range names {
		text, err := os.ReadFile(name)
		must.Succeed(t, err)
		for _, b := range page.Parse(text).Blocks {
			if b.Language != "yaml" {
				continue
			}
			for _, document := range strings.Split(b.Text, "\n---\n") {
				object := &unstructured.Unstructured{}
				if yaml.Unmarshal([]byte(document), &object.Object) != nil || object.GroupVersionKind().Group != v1beta1.GroupVersion.Group {
					continue // a part of a manifest, or another's
				}
				object.SetNamespace(namespace)
				must.Report(t, fmt.Sprintf("%s, line %d", name, b.Line), c.Create(t.Context(), object, client.DryRunAll))
				shown[filepath.Base(name)]++
			}
		}
	}
	for name, least := range map[string]int{"first-half-hour.md": 2, "recipes.md": 18, "tutorial.md": 4, "moving-from-k6-operator.md": 2, "moving-from-locust.md": 1, "vegeta.md": 1, "schedules.md": 1} {
		if shown[name] < least {
			t.Errorf("%s shows %d manifests, want %d or more", name, shown[name], least)
		}
	}
}
