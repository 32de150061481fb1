package v1beta1_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
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

// TestManifestsOfPipelinesAreAccepted gives what Argo CD and Flux apply from examples/ to the
// API server, as they do, and the Job that Argo Rollouts makes of its template.
func TestManifestsOfPipelinesAreAccepted(t *testing.T) {
	namespace, c := apiserver.Namespace(t), strictClient(t)
	for file, want := range map[string]int{
		"argocd/hook/shop.yaml": 2, "argocd/hook/loadtest.yaml": 1, "argocd/waves/loadtest.yaml": 1, "argocd/waves/released.yaml": 1, "argocd/analysistemplate.yaml": 3,
		"flux/gate/loadtest.yaml": 1, "flux/checkout/released.yaml": 1,
	} {
		text, err := os.ReadFile(filepath.Join("..", "..", "examples", file))
		must.Succeed(t, err)
		given := 0
		for _, document := range bytes.Split(text, []byte("\n---\n")) {
			object := &unstructured.Unstructured{}
			must.Succeed(t, yaml.UnmarshalStrict(document, &object.Object))
			if object.GetKind() == "AnalysisTemplate" {
				object = jobOfAnalysis(t, object)
			} else if strings.HasPrefix(object.GetAPIVersion(), "argoproj.io/") {
				continue // which only Argo's own API server takes
			}
			object.SetNamespace(namespace)
			must.Report(t, file, c.Create(t.Context(), object, client.DryRunAll))
			given++
		}
		if given != want {
			t.Errorf("%s has %d objects for the API server, want %d", file, given, want)
		}
	}
}

// jobOfAnalysis is the Job that Argo Rollouts makes of a template.
func jobOfAnalysis(t *testing.T, template *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	metrics, _, err := unstructured.NestedSlice(template.Object, "spec", "metrics")
	if err != nil || len(metrics) != 1 {
		t.Fatal(metrics, err)
	}
	spec, found, err := unstructured.NestedMap(metrics[0].(map[string]any), "provider", "job", "spec")
	if err != nil || !found {
		t.Fatal(found, err)
	}
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "batch/v1", "kind": "Job", "metadata": map[string]any{"name": "analysis"}, "spec": spec}}
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
