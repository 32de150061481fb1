//go:build e2e

package faults

import (
	"context"
	"errors"
	"fmt"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/fault"
)

// deadline is when a run whose workers cannot start is given up.
const deadline = 10 * time.Second

// admissionFaults keep the workers of a run from being created, or from starting.
func admissionFaults() []single {
	load := fault.Load{Workers: 2, Steps: []fault.Step{users(3 * time.Second), users(3 * time.Second)},
		Change: func(spec *v1beta1.LoadTestSpec) { spec.StartDeadlineSeconds = ptr.To(int64(deadline.Seconds())) }}
	// One of its last requests may be unsent on a busy machine: less than 1% of a step.
	patient := fault.Load{Workers: load.Workers, Steps: []fault.Step{users(4 * time.Second), users(4 * time.Second)}}
	missing := load
	missing.Change = func(spec *v1beta1.LoadTestSpec) {
		load.Change(spec)
		spec.Requests[0].HTTP.BodyFrom = &v1beta1.Content{ConfigMap: &v1beta1.KeyReference{Name: "not-there", Key: "body"}}
		spec.Requests[0].HTTP.Method = "POST"
	}
	givenUp := func(reason string) fault.Expectation {
		return fault.Expectation{Verdicts: []string{fault.Error}, Within: deadline + 20*time.Second, Reason: reason}
	}
	return []single{
		{fault: "quota", run: "one pod of two", step: -1, alone: true, load: load, want: givenUp("one-pod"), inject: quota},
		{fault: "quota lifted after 5s", run: "one pod of two", step: -1, alone: true, load: patient, lasts: 5 * time.Second,
			want: fault.Expectation{Verdicts: []string{fault.Passed}, Exact: true}, inject: quota},
		{fault: "admission policy", run: "Jobs refused", step: -1, alone: true, load: load, lasts: deadline + 2*time.Second, want: givenUp("no load today"), inject: refuse("batch", "jobs")},
		{fault: "admission policy", run: "pods refused", step: -1, alone: true, load: load, lasts: deadline + 2*time.Second, want: givenUp("no load today"), inject: refuse("", "pods")},
		{fault: "ConfigMap missing", run: "two workers", step: -1, load: missing, want: givenUp("not-there"),
			inject: func(context.Context, *subject) (undo, error) { return nil, nil }},
	}
}

// quota leaves room for one pod beside the target.
func quota(ctx context.Context, s *subject) (undo, error) {
	q := &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.lt.Namespace, Name: "one-pod"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("2")}},
	}
	lift := func(ctx context.Context) error { return cluster.API.Delete(ctx, q) }
	if s.load.Change != nil {
		lift = nil // the run is given up under it
	}
	if err := cluster.API.Create(ctx, q); err != nil {
		return nil, err
	}
	return lift, cluster.Try(ctx, cluster.Patience, func(ctx context.Context) error { return cluster.CountsPods(ctx, client.ObjectKeyFromObject(q)) })
}

// refuse keeps objects of a kind from being created in the run's namespace.
func refuse(group, kind string) func(context.Context, *subject) (undo, error) {
	return func(ctx context.Context, s *subject) (undo, error) {
		name := s.lt.Namespace + "-" + kind
		own := &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: s.lt.Namespace}}
		policy := &admissionv1.ValidatingAdmissionPolicy{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec: admissionv1.ValidatingAdmissionPolicySpec{
				MatchConstraints: &admissionv1.MatchResources{NamespaceSelector: own, ResourceRules: []admissionv1.NamedRuleWithOperations{{
					RuleWithOperations: admissionv1.RuleWithOperations{
						Operations: []admissionv1.OperationType{admissionv1.Create},
						Rule:       admissionv1.Rule{APIGroups: []string{group}, APIVersions: []string{"v1"}, Resources: []string{kind}},
					},
				}}},
				Validations: []admissionv1.Validation{{Expression: "false", Message: "no load today"}},
			},
		}
		binding := &admissionv1.ValidatingAdmissionPolicyBinding{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{
				PolicyName: name, ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny},
			},
		}
		back := func(ctx context.Context) error {
			return errors.Join(cluster.API.Delete(ctx, binding), cluster.API.Delete(ctx, policy))
		}
		for _, object := range []client.Object{policy, binding} {
			if err := cluster.API.Create(ctx, object); err != nil {
				return back, err
			}
		}
		return back, cluster.Try(ctx, cluster.Patience, func(ctx context.Context) error { return refuses(ctx, s, kind) })
	}
}

// refuses tries whether an object of the kind is refused.
func refuses(ctx context.Context, s *subject, kind string) error {
	pod := s.target.Pod("")
	pod.Name = "tried"
	var object client.Object = pod
	if kind == "jobs" {
		pod.Spec.RestartPolicy = corev1.RestartPolicyNever
		object = &batchv1.Job{ObjectMeta: pod.ObjectMeta, Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: pod.Spec}}}
	}
	switch err := cluster.API.Create(ctx, object, client.DryRunAll); {
	case apierrors.IsInvalid(err), apierrors.IsForbidden(err):
		return nil
	case err != nil:
		return err
	}
	return fmt.Errorf("%s are not refused yet", kind)
}
