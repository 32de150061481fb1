package argocd

import (
	"bytes"
	"os"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// first is the first object of a file. That the API server takes all of them is tested in
// api/v1beta1, by TestManifestsOfPipelinesAreAccepted.
func first(t *testing.T, file string) *unstructured.Unstructured {
	t.Helper()
	content, err := os.ReadFile(file)
	must.Succeed(t, err)
	text, _, _ := bytes.Cut(content, []byte("\n---\n"))
	o := &unstructured.Unstructured{}
	must.Succeed(t, yaml.UnmarshalStrict(bytes.ReplaceAll(text, []byte("{{args.loadtest}}"), []byte("checkout")), &o.Object))
	return o
}

// TestAnalysisRunsThePlugin makes the Job as Argo Rollouts does, and reads its arguments.
func TestAnalysisRunsThePlugin(t *testing.T) {
	metrics, _, err := unstructured.NestedSlice(first(t, "analysistemplate.yaml").Object, "spec", "metrics")
	if err != nil || len(metrics) != 1 {
		t.Fatal(metrics, err)
	}
	spec, found, err := unstructured.NestedMap(metrics[0].(map[string]any), "provider", "job", "spec")
	if err != nil || !found {
		t.Fatal(found, err)
	}
	var job batchv1.JobSpec
	must.Succeed(t, runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(spec, &job, true))
	args := strings.Join(job.Template.Spec.Containers[0].Args, " ")
	if args != "rerun checkout --timeout 14m" || *job.BackoffLimit != 0 {
		t.Errorf("it runs %q, and again %d times", args, *job.BackoffLimit)
	}
	if deadline := *job.ActiveDeadlineSeconds; deadline <= 14*60 {
		t.Errorf("the Job ends after %d s, before the plugin can say what became of the run", deadline)
	}
}

// TestLoadTestsOfAGateEnd: a sync waits for a hook as long as that takes.
func TestLoadTestsOfAGateEnd(t *testing.T) {
	for _, file := range []string{"hook/loadtest.yaml", "waves/loadtest.yaml"} {
		spec := first(t, file).Object["spec"].(map[string]any)
		if spec["activeDeadlineSeconds"] == nil || spec["startDeadlineSeconds"] == nil {
			t.Errorf("%s has no deadline", file)
		}
	}
}
