package chart_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// hub reads an annotation of Chart.yaml that ArtifactHub reads as YAML.
func hub(t *testing.T, name string, into any) {
	t.Helper()
	var chart struct{ Annotations map[string]string }
	raw := must.ReadFile(t, "Chart.yaml")
	must.Succeed(t, yaml.Unmarshal(raw, &chart))
	text, ok := chart.Annotations["artifacthub.io/"+name]
	if !ok {
		t.Fatalf("Chart.yaml has no annotation artifacthub.io/%s", name)
	}
	if err := yaml.UnmarshalStrict([]byte(text), into); err != nil {
		t.Fatalf("artifacthub.io/%s: %v", name, err)
	}
}

// TestHubExamplesAreValid has an API server take the examples: one for each kind.
func TestHubExamplesAreValid(t *testing.T) {
	var examples []map[string]any
	hub(t, "crdsExamples", &examples)
	c, namespace := client.WithFieldValidation(apiserver.Client(t), metav1.FieldValidationStrict), apiserver.Namespace(t)
	var kinds []string
	for _, example := range examples {
		object := &unstructured.Unstructured{Object: example}
		object.SetNamespace(namespace)
		kinds = append(kinds, object.GetKind())
		if err := c.Create(t.Context(), object, client.DryRunAll); err != nil {
			t.Errorf("%s %s: %v", object.GetKind(), object.GetName(), err)
		}
	}
	same.As(t, "kinds", []string{"LoadTest", "LoadTestSchedule"}, kinds)
}

// TestHubNamesTheDefinitions compares what is said of them with the files.
func TestHubNamesTheDefinitions(t *testing.T) {
	type definition struct{ Kind, Version, Name, DisplayName, Description string }
	var said, want []definition
	hub(t, "crds", &said)
	files, err := filepath.Glob("crds/*.yaml")
	must.Succeed(t, err)
	for _, file := range files {
		text := must.ReadFile(t, file)
		var crd apiextensionsv1.CustomResourceDefinition
		must.Succeed(t, yaml.Unmarshal(text, &crd))
		want = append(want, definition{Kind: crd.Spec.Names.Kind, Version: crd.Spec.Versions[0].Name, Name: crd.Name})
	}
	if diff := cmp.Diff(want, said, cmpopts.IgnoreFields(definition{}, "DisplayName", "Description")); diff != "" {
		t.Errorf("definitions (-files +annotation):\n%s", diff)
	}
	for _, d := range said {
		if d.DisplayName == "" || d.Description == "" {
			t.Errorf("%s has no words for people", d.Kind)
		}
	}
}

// TestHubNamesTheImages compares what is said of them with what is installed by default.
func TestHubNamesTheImages(t *testing.T) {
	type image struct {
		Name, Image string
		Platforms   []string
	}
	var said []image
	hub(t, "images", &said)
	objects := render(t)
	platforms := []string{"linux/amd64", "linux/arm64"}
	want := []image{{"operator", container(t, objects)["image"].(string), platforms}}
	for _, arg := range arguments(t, objects, release) {
		if worker, ok := strings.CutPrefix(arg, "--worker-image="); ok {
			want = append(want, image{"worker", worker, platforms})
		}
	}
	if diff := cmp.Diff(want, said); diff != "" {
		t.Errorf("images (-installed +annotation):\n%s", diff)
	}
}

// TestHubReadsTheRest has what else ArtifactHub would refuse.
func TestHubReadsTheRest(t *testing.T) {
	var changes []struct{ Kind, Description string }
	hub(t, "changes", &changes)
	for _, c := range changes {
		if !slices.Contains([]string{"added", "changed", "deprecated", "removed", "fixed", "security"}, c.Kind) || c.Description == "" {
			t.Errorf("change %+v", c)
		}
	}
	var links []struct{ Name, URL string }
	hub(t, "links", &links)
	if len(changes) == 0 || len(links) == 0 {
		t.Errorf("%d changes, %d links", len(changes), len(links))
	}
	var repository struct {
		RepositoryID string
		Owners       []struct{ Name, Email string }
	}
	readYAML(t, filepath.Join("..", "artifacthub-repo.yml"), &repository) // both are the publisher's to fill in
}
