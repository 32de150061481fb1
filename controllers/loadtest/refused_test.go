package loadtest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
	"github.com/loadtest-dev/loadtest-operator/test/await"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// A Job that can never be created ends the run at once, with the user's own field.
func TestInvalidWorkersEndTheRun(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		worker v1beta1.Worker
		want   string
	}{
		"limits below requests": {
			v1beta1.Worker{Resources: &corev1.ResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("2Gi")},
				Limits:   corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")},
			}},
			`The API server refuses the Job of the workers: spec.worker.resources.requests: Invalid value: "2Gi": must be less than or equal to memory limit of 1Gi.`,
		},
		"a toleration of any value with a value": {v1beta1.Worker{Tolerations: []corev1.Toleration{{Key: "load", Operator: corev1.TolerationOpExists, Value: "yes"}}},
			"The API server refuses the Job of the workers: spec.worker.tolerations[0].operator: Invalid value: "},
	} {
		t.Run(name, func(t *testing.T) {
			r, lt := newFixture(t, apiserver.Client(t)), hello(t)
			tolerant := limitedTo(noLimits + "\nworkers: [{tolerationKeys: [load]}]")
			r.Policy = func() *policy.Policy { return tolerant }
			change(t, lt, func(s *v1beta1.LoadTestSpec) { s.Worker = &tc.worker })
			r.mustPass(lt)
			if result := r.mustPass(lt); result.RequeueAfter != time.Millisecond {
				t.Fatalf("after the refusal: again after %v, want at once", result.RequeueAfter)
			}
			r.mustPass(lt)
			failed := v1beta1.NotCarriedOut(lt.Status.Conditions)
			if failed == nil || failed.Reason != v1beta1.ReasonCreateRefused || !strings.HasPrefix(failed.Message, tc.want) {
				t.Errorf("CarriedOut is %+v\nwant %s", failed, tc.want)
			}
			same.As(t, "verdict", v1beta1.VerdictError, lt.Status.Verdict)
		})
	}
}

// A Job that may be created later is tried again until the start deadline, with the
// reason in the status.
func TestARefusedJobIsTriedAgain(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		refuse func(*testing.T, string) client.Object
		want   string
	}{
		"quota": {
			refuse: quota,
			want:   "The API server refuses the Job of the workers: exceeded quota: none, requested: count/jobs.batch=1, used: count/jobs.batch=0, limited: count/jobs.batch=0.",
		},
		"policy": {refuse: denying, want: "The API server refuses the Job of the workers: ValidatingAdmissionPolicy 'deny-"},
	} {
		t.Run(name, func(t *testing.T) {
			c := apiserver.Client(t)
			r, lt := newFixture(t, c), hello(t)
			in := tc.refuse(t, lt.Namespace)
			r.mustPass(lt)
			r.mustPass(lt)
			r.after(time.Second) // what a run waits for is written once a second
			result := r.mustPass(lt)
			if got := workersReady(lt); got.Reason != v1beta1.ReasonCreateRefused || got.Status != metav1.ConditionFalse || !strings.HasPrefix(got.Message, tc.want) {
				t.Fatalf("WorkersReady is %+v\nwant %s", got, tc.want)
			}
			if result.RequeueAfter != 4*time.Second || lt.Status.Verdict != "" {
				t.Fatalf("again after %v with verdict %q, want 5 s after the refusal and none", result.RequeueAfter, lt.Status.Verdict)
			}
			r.after(5 * time.Second)
			r.mustPass(lt)
			r.mustPass(lt)
			if got := workersReady(lt); got.Reason != v1beta1.ReasonCreateRefused {
				t.Fatalf("after another refusal WorkersReady is %+v", got)
			}

			must.Succeed(t, c.Delete(t.Context(), in))
			awaitJobs(t, lt.Namespace, true)
			r.after(5 * time.Second)
			r.mustPass(lt)
			r.after(time.Second)
			r.mustPass(lt)
			must.Report(t, "the Job was not created once it was admitted", c.Get(t.Context(), client.ObjectKeyFromObject(lt), &batchv1.Job{}))
			if got := workersReady(lt); got.Reason != v1beta1.ReasonWaiting {
				t.Errorf("WorkersReady is %+v, want that it waits", got)
			}
		})
	}
}

// The start deadline gives a refused run up, and says why it was refused.
func TestARefusedJobIsGivenUp(t *testing.T) {
	t.Parallel()
	r, lt := newFixture(t, apiserver.Client(t)), hello(t)
	quota(t, lt.Namespace)
	r.mustPass(lt)
	r.mustPass(lt)
	r.after(301 * time.Second)
	r.mustPass(lt)
	failed := v1beta1.NotCarriedOut(lt.Status.Conditions)
	if failed == nil || failed.Reason != v1beta1.ReasonStartDeadlineExceeded || !strings.Contains(failed.Message, "exceeded quota: none") {
		t.Errorf("CarriedOut is %+v", failed)
	}
}

// quota allows no Job in a namespace. There is no controller that counts here.
func quota(t *testing.T, namespace string) client.Object {
	t.Helper()
	none := corev1.ResourceList{"count/jobs.batch": resource.MustParse("0")}
	q := &corev1.ResourceQuota{Spec: corev1.ResourceQuotaSpec{Hard: none}}
	q.Namespace, q.Name = namespace, "none"
	c := apiserver.Client(t)
	must.Succeed(t, c.Create(t.Context(), q))
	q.Status = corev1.ResourceQuotaStatus{Hard: none, Used: none}
	must.Succeed(t, c.Status().Update(t.Context(), q))
	awaitJobs(t, namespace, false)
	return q
}

// denying denies all Jobs of a namespace.
func denying(t *testing.T, namespace string) client.Object {
	t.Helper()
	in := deny(t, namespace, admissionv1.Rule{APIGroups: []string{"batch"}, APIVersions: []string{"v1"}, Resources: []string{"jobs"}},
		admissionv1.Create, "false", "no Job in this namespace")
	awaitJobs(t, namespace, false)
	return in
}

// deny has a policy admit only what satisfies an expression. To delete its binding,
// which is returned, ends it.
func deny(t *testing.T, namespace string, rule admissionv1.Rule, operation admissionv1.OperationType, expression, message string) client.Object {
	t.Helper()
	c := apiserver.Client(t)
	p := &admissionv1.ValidatingAdmissionPolicy{Spec: admissionv1.ValidatingAdmissionPolicySpec{
		MatchConstraints: &admissionv1.MatchResources{
			NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: namespace}},
			ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: admissionv1.RuleWithOperations{
				Operations: []admissionv1.OperationType{operation}, Rule: rule,
			}}},
		},
		Validations: []admissionv1.Validation{{Expression: expression, Message: message}},
	}}
	p.Name = "deny-" + namespace
	b := &admissionv1.ValidatingAdmissionPolicyBinding{Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{
		PolicyName: p.Name, ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny},
	}}
	b.Name = p.Name
	for _, o := range []client.Object{p, b} {
		must.Succeed(t, c.Create(t.Context(), o))
	}
	t.Cleanup(func() { _ = c.Delete(context.Background(), p) })
	return b
}

// awaitJobs waits until Jobs are admitted to a namespace, or are not any more.
func awaitJobs(t *testing.T, namespace string, admitted bool) {
	t.Helper()
	job := &batchv1.Job{Spec: batchv1.JobSpec{Template: apiserver.PodTemplate()}}
	job.Namespace, job.Name = namespace, "probe"
	awaitAdmission(t, admitted, func(c client.Client) error { return c.Create(t.Context(), job.DeepCopy()) })
}

// awaitAdmission waits until a write, which is not carried out, is admitted, or is not
// any more: what decides on it reads through a cache.
func awaitAdmission(t *testing.T, admitted bool, write func(client.Client) error) {
	t.Helper()
	await.True(t, fmt.Sprintf("it is admitted: %t", admitted), func() bool {
		err := write(client.NewDryRunClient(apiserver.Client(t)))
		if err != nil && !strings.Contains(err.Error(), " denied request: ") && !strings.Contains(err.Error(), "exceeded quota: ") {
			t.Fatal(err)
		}
		return admitted == (err == nil)
	})
}
