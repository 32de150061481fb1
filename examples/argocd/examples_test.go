package argocd

import (
	"bytes"
	"os"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

func TestMain(m *testing.M) { apiserver.Start(m) }

// objects are those of a file.
func objects(t *testing.T, file string) (all []*unstructured.Unstructured) {
	t.Helper()
	content, err := os.ReadFile(file)
	must.Succeed(t, err)
	for _, text := range bytes.Split(content, []byte("\n---\n")) {
		o := &unstructured.Unstructured{}
		if err := yaml.UnmarshalStrict(text, &o.Object); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		all = append(all, o)
	}
	return all
}

// TestAPIServerTakesExamples creates what is no object of Argo's in a namespace, which
// refuses unknown fields.
func TestAPIServerTakesExamples(t *testing.T) {
	c := client.WithFieldValidation(apiserver.Client(t), metav1.FieldValidationStrict)
	for _, file := range []string{"hook/shop.yaml", "hook/loadtest.yaml", "waves/loadtest.yaml", "waves/released.yaml", "analysistemplate.yaml"} {
		ns := apiserver.Namespace(t)
		for _, o := range objects(t, file) {
			if strings.HasPrefix(o.GetAPIVersion(), "argoproj.io/") {
				continue // below
			}
			o.SetNamespace(ns)
			if err := c.Create(t.Context(), o); err != nil {
				t.Errorf("%s: %s %s: %v", file, o.GetKind(), o.GetName(), err)
			}
		}
	}
}

// TestAnalysisRunsThePlugin creates the Job as Argo Rollouts does, and reads its arguments.
func TestAnalysisRunsThePlugin(t *testing.T) {
	content, err := os.ReadFile("analysistemplate.yaml")
	must.Succeed(t, err)
	first, _, _ := strings.Cut(strings.ReplaceAll(string(content), "{{args.loadtest}}", "checkout"), "\n---\n")
	o := &unstructured.Unstructured{}
	must.Succeed(t, yaml.UnmarshalStrict([]byte(first), &o.Object))
	metrics, _, err := unstructured.NestedSlice(o.Object, "spec", "metrics")
	if err != nil || len(metrics) != 1 {
		t.Fatal(metrics, err)
	}
	spec, found, err := unstructured.NestedMap(metrics[0].(map[string]any), "provider", "job", "spec")
	if err != nil || !found {
		t.Fatal(found, err)
	}
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{GenerateName: "analysis-", Namespace: apiserver.Namespace(t)}}
	must.Succeed(t, runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(spec, &job.Spec, true))
	must.Succeed(t, apiserver.Client(t).Create(t.Context(), job))
	args := strings.Join(job.Spec.Template.Spec.Containers[0].Args, " ")
	if args != "rerun checkout --timeout 14m" || *job.Spec.BackoffLimit != 0 {
		t.Errorf("it runs %q, and again %d times", args, *job.Spec.BackoffLimit)
	}
	if deadline := *job.Spec.ActiveDeadlineSeconds; deadline <= 14*60 {
		t.Errorf("the Job ends after %d s, before the plugin can say what became of the run", deadline)
	}
}

// TestLoadTestsOfAGateEnd: a sync waits for a hook as long as that takes.
func TestLoadTestsOfAGateEnd(t *testing.T) {
	for _, file := range []string{"hook/loadtest.yaml", "waves/loadtest.yaml"} {
		spec := objects(t, file)[0].Object["spec"].(map[string]any)
		if spec["activeDeadlineSeconds"] == nil || spec["startDeadlineSeconds"] == nil {
			t.Errorf("%s has no deadline", file)
		}
	}
}
