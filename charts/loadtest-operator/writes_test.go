package chart_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
	"github.com/loadtest-dev/loadtest-operator/test/await"
	"github.com/loadtest-dev/loadtest-operator/test/deviation"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// TestOperatorWritesOnlyWhatLoadTestsNeed holds the operator's account to the policies of
// the chart, though it has every right in the cluster.
func TestOperatorWritesOnlyWhatLoadTestsNeed(t *testing.T) {
	admin := apiserver.Client(t)
	own := apiserver.Namespace(t)
	job := operatorsJob(t, admin, apiserver.Namespace(t))
	installPolicies(t, own)
	operator := account(t, own)
	awaitPolicies(t, operator, own)

	for _, d := range deviation.All() {
		t.Run(d.Name, func(t *testing.T) {
			err := d.Try(t.Context(), operator, job, own)
			if err == nil || !strings.Contains(err.Error(), "ValidatingAdmissionPolicy") || !strings.Contains(err.Error(), d.Words) {
				t.Errorf("it is not refused by a policy with %q: %v", d.Words, err)
			}
		})
	}
	t.Run("a pod, for which it has no other use", func(t *testing.T) {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: job.Namespace, Name: "a"}, Spec: bare.Template.Spec}
		err := operator.Create(t.Context(), pod, client.DryRunAll)
		if err == nil || !strings.Contains(err.Error(), "may not CREATE /pods a") {
			t.Errorf("it is not refused: %v", err)
		}
	})
}

// TestOperatorWritesWhatLoadTestsNeed has every Job of the operator's tests.
func TestOperatorWritesWhatLoadTestsNeed(t *testing.T) {
	admin := apiserver.Client(t)
	own, namespace := apiserver.Namespace(t), apiserver.Namespace(t)
	installPolicies(t, own)
	operator := account(t, own)
	awaitPolicies(t, operator, own)

	files, err := filepath.Glob("../../controllers/loadtest/desired/testdata/job-*.yaml")
	if err != nil || len(files) < 3 {
		t.Fatalf("there are %d golden Jobs (%v)", len(files), err)
	}
	for _, file := range files {
		job := reviewed(t, file, namespace)
		must.Report(t, file+" is refused", operator.Create(t.Context(), job, client.DryRunAll))
		must.Report(t, fmt.Sprintf("the results of %s are refused", file), operator.Create(t.Context(), deviation.Results(job), client.DryRunAll))
	}
	must.Report(t, "the LoadTest of a schedule is refused", operator.Create(t.Context(), deviation.Scheduled(namespace)))
	must.Report(t, "deleting the LoadTest of a schedule is refused", operator.Delete(t.Context(), deviation.Scheduled(namespace)))
	for _, name := range []string{release + "-coordinator", "another"} {
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: own, Name: name}}
		if err := operator.Create(t.Context(), secret, client.DryRunAll); (err == nil) != (name != "another") {
			t.Errorf("Secret %s: %v", name, err)
		}
	}
	// Others are not held to it.
	must.Report(t, "a Secret of the administrator is refused", admin.Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: own, Name: "another"}}, client.DryRunAll))
}

// installPolicies has the server enforce the policies of a chart in a namespace.
func installPolicies(t *testing.T, own string) {
	t.Helper()
	objects, err := helm(t, release, "--namespace", own)
	must.Succeed(t, err)
	n := enforce(t, objects, func(o *unstructured.Unstructured) bool {
		return strings.HasPrefix(o.GetKind(), "ValidatingAdmissionPolicy") && !slices.Contains([]string{release + "-targets", release + "-schedules"}, o.GetName())
	})
	same.As(t, "objects of policies for the operator", 6, n)
}

// enforce creates the objects that meant selects, and returns how many there are. It deletes them
// when the test ends.
func enforce(t *testing.T, objects []unstructured.Unstructured, meant func(*unstructured.Unstructured) bool) (n int) {
	t.Helper()
	admin := apiserver.Client(t)
	for _, object := range objects {
		if meant(&object) {
			n++
			must.Succeed(t, admin.Create(t.Context(), &object))
			t.Cleanup(func() { _ = admin.Delete(context.Background(), &object) })
		}
	}
	return n
}

// account is a client of the operator's account, which has every right.
func account(t *testing.T, own string) client.Client {
	t.Helper()
	admin := apiserver.Client(t)
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "everything-"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
		Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: own, Name: release}},
	}
	must.Succeed(t, admin.Create(t.Context(), binding))
	config := apiserver.Config(t)
	config.Impersonate = rest.ImpersonationConfig{
		UserName: "system:serviceaccount:" + own + ":" + release,
		Groups:   []string{"system:serviceaccounts", "system:serviceaccounts:" + own, "system:authenticated"},
	}
	c, err := client.New(config, client.Options{Scheme: apiserver.Scheme(t)})
	must.Succeed(t, err)
	return c
}

// bare is a Job that is none of the operator's.
var bare = batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
	RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "a", Image: "a"}},
}}}

// awaitPolicies waits until every policy refuses what it must: the server reads policies
// after it has stored them.
func awaitPolicies(t *testing.T, operator client.Client, own string) {
	t.Helper()
	meta := metav1.ObjectMeta{Namespace: own, Name: "tried"}
	tries := []client.Object{&corev1.Pod{ObjectMeta: meta, Spec: bare.Template.Spec}, &batchv1.Job{ObjectMeta: meta, Spec: bare}, &corev1.ConfigMap{ObjectMeta: meta}}
	await.Until(t, "the policies are in force", func() error {
		for _, o := range tries {
			err := operator.Create(t.Context(), o.DeepCopyObject().(client.Object), client.DryRunAll)
			if err == nil || !strings.Contains(err.Error(), "ValidatingAdmissionPolicy") {
				return fmt.Errorf("a %T: %w", o, cmp.Or(err, errors.New("it is taken")))
			}
		}
		return nil
	})
}

// operatorsJob is a Job as the operator creates it, of a LoadTest that is there; a
// foreign Job is beside it.
func operatorsJob(t *testing.T, admin client.Client, namespace string) *batchv1.Job {
	t.Helper()
	job := reviewed(t, "../../controllers/loadtest/desired/testdata/job-files.yaml", namespace)
	lt := &v1beta1.LoadTest{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: job.Name}}
	must.Succeed(t, yaml.Unmarshal([]byte("{target: {service: {name: a}}, requests: [{name: home, http: {path: /}}], steps: [{name: 1/s, rate: 1, duration: 1s}]}"), &lt.Spec))
	foreign := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: deviation.Foreign}, Spec: *job.Spec.DeepCopy()}
	for _, object := range []client.Object{lt, foreign} {
		if err := admin.Create(t.Context(), object); err != nil {
			t.Fatal(fmt.Errorf("create %T: %w", object, err))
		}
	}
	return job
}

// reviewed reads a Job that controllers/loadtest/desired makes, from one of its golden files.
func reviewed(t *testing.T, file, namespace string) *batchv1.Job {
	t.Helper()
	text, err := os.ReadFile(file)
	must.Succeed(t, err)
	job := &batchv1.Job{}
	must.Succeed(t, yaml.UnmarshalStrict(text, job))
	job.Namespace = namespace
	return job
}
