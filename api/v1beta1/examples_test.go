package v1beta1_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// TestExamplesAreAccepted creates what people write who know the API by its
// documentation alone. The API server stores it as it stands in the file: a tool that
// compares the two finds no difference inside a list.
func TestExamplesAreAccepted(t *testing.T) {
	files, err := filepath.Glob("testdata/examples/*.yaml")
	if err != nil || len(files) != 10 {
		t.Fatalf("there are %d examples (%v), want 10", len(files), err)
	}
	namespace, c := apiserver.Namespace(t), strictClient(t)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			must.Succeed(t, err)
			object := &unstructured.Unstructured{}
			must.Succeed(t, yaml.UnmarshalStrict(text, &object.Object))
			given := object.DeepCopy()
			object.SetNamespace(namespace)
			must.Succeed(t, c.Create(t.Context(), object))
			sameLists(t, "spec", given.Object["spec"], object.Object["spec"])
		})
	}
}

// sameLists reports what differs inside the lists of two values. Beside the lists the
// second may have more: defaults.
func sameLists(t *testing.T, path string, given, stored any) {
	t.Helper()
	switch given := given.(type) {
	case map[string]any:
		for name, value := range given {
			fields, _ := stored.(map[string]any)
			sameLists(t, path+"."+name, value, fields[name])
		}
	case []any:
		want, err := yaml.Marshal(given)
		must.Succeed(t, err)
		got, err := yaml.Marshal(stored)
		must.Succeed(t, err)
		if string(want) != string(got) {
			t.Errorf("%s is stored as\n%s\nnot as written\n%s", path, got, want)
		}
	}
}
