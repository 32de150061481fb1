package v1alpha1_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
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
			if err != nil {
				t.Fatal(err)
			}
			object := &unstructured.Unstructured{}
			if err := yaml.UnmarshalStrict(text, &object.Object); err != nil {
				t.Fatal(err)
			}
			given := object.DeepCopy()
			object.SetNamespace(namespace)
			if err := c.Create(t.Context(), object); err != nil {
				t.Fatal(err)
			}
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
		if err != nil {
			t.Fatal(err)
		}
		got, err := yaml.Marshal(stored)
		if err != nil {
			t.Fatal(err)
		}
		if string(want) != string(got) {
			t.Errorf("%s is stored as\n%s\nnot as written\n%s", path, got, want)
		}
	}
}
