//go:build e2e

package ecosystem

import (
	"context"
	"errors"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// analysis runs the Job of the AnalysisTemplate, as Argo Rollouts does, against the shop as
// it is: the plugin in it runs the gate once more.
func (s *gitOps) analysis(t *testing.T) string {
	content := must.ReadFile(t, "../../../examples/argocd/analysistemplate.yaml")
	text := strings.NewReplacer("{{args.loadtest}}", "shop-gate", "loadtest-dev/kubectl-loadtest:0.1.0", cluster.Image("kubectl-loadtest")+":"+cluster.ImageTag()).Replace(string(content))
	template, rights, _ := strings.Cut(text, "\n---\n")
	must.Succeed(t, pipe(t.Context(), []byte(rights), "apply", "-n", s.ns, "-f", "-"))
	o := &unstructured.Unstructured{}
	must.Succeed(t, yaml.Unmarshal([]byte(template), &o.Object))
	metrics, _, _ := unstructured.NestedSlice(o.Object, "spec", "metrics")
	spec, _, _ := unstructured.NestedMap(metrics[0].(map[string]any), "provider", "job", "spec")
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{GenerateName: "analysis-", Namespace: s.ns}}
	must.Succeed(t, runtime.DefaultUnstructuredConverter.FromUnstructured(spec, &job.Spec))
	must.Succeed(t, cluster.API.Create(t.Context(), job))
	cluster.Soon(t, func(ctx context.Context) error {
		if err := cluster.API.Get(ctx, client.ObjectKeyFromObject(job), job); err != nil {
			return err
		}
		if job.Status.Succeeded+job.Status.Failed == 0 {
			return errors.New("the Job has not ended")
		}
		return nil
	})
	log, err := cluster.Command(t.Context(), "kubectl", "-n", s.ns, "logs", "job/"+job.Name)
	var all v1beta1.LoadTestList
	must.Succeed(t, errors.Join(err, cluster.API.List(t.Context(), &all, client.InNamespace(s.ns))))
	for _, lt := range all.Items {
		if lt.Annotations["loadtest.dev/rerun-of"] != "shop-gate" {
			continue
		}
		if passed := lt.Status.Verdict == v1beta1.VerdictPassed; passed != (job.Status.Succeeded == 1) {
			t.Errorf("LoadTest %s is %s, and of the Job %d pods succeeded\n%s", lt.Name, lt.Status.Verdict, job.Status.Succeeded, log)
		}
		return "LoadTest " + lt.Name + " " + string(lt.Status.Verdict) + ", the Job ended likewise"
	}
	t.Fatalf("the Job has made no LoadTest:\n%s", log)
	return ""
}
