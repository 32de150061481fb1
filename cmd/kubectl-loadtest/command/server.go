package command

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/admission"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/document"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/local"
)

// review is what the cluster has against a LoadTest that is not there yet. What the user
// may not read is not asked for.
func (c *cluster) review(ctx context.Context, object *unstructured.Unstructured, spec *v1beta1.LoadTestSpec) ([]admission.Problem, error) {
	var problems []admission.Problem
	err := c.Create(ctx, object.DeepCopy(), client.DryRunAll, client.FieldOwner(fieldManager), client.FieldValidation(metav1.FieldValidationStrict))
	switch {
	case apierrors.IsAlreadyExists(err):
		problems = append(problems, admission.Problem{Field: "metadata.name", Message: exists(object)})
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err), apierrors.IsForbidden(err):
		problems = append(problems, admission.Problem{Message: err.Error()})
	case err != nil:
		return nil, fmt.Errorf("ask the cluster about LoadTest %s: %w", document.DisplayName(object), err)
	}
	named := []func() (*admission.Problem, error){func() (*admission.Problem, error) {
		return c.reviewService(ctx, object.GetNamespace(), "spec.target", spec.Target.Service)
	}}
	for i := range spec.OtherTargets {
		named = append(named, func() (*admission.Problem, error) {
			return c.reviewService(ctx, object.GetNamespace(), fmt.Sprintf("spec.otherTargets[%d]", i), spec.OtherTargets[i].Service)
		})
	}
	for _, f := range local.Files(spec) {
		named = append(named, func() (*admission.Problem, error) { return c.reviewFile(ctx, object.GetNamespace(), f) })
	}
	for _, ask := range named {
		p, err := ask()
		if err != nil && !apierrors.IsForbidden(err) {
			return nil, err
		}
		if p != nil {
			problems = append(problems, *p)
		}
	}
	return problems, nil
}

// exists says what to do about an object whose name is taken.
func exists(object *unstructured.Unstructured) string {
	if isSchedule(object) {
		return "a LoadTestSchedule of that name exists already; kubectl apply changes it"
	}
	return "a LoadTest of that name exists already; run --replace deletes it first, once it has finished"
}

// reviewService is about the Service of the target in a field; nil: it is none.
func (c *cluster) reviewService(ctx context.Context, namespace, field string, target *v1beta1.ServiceReference) (*admission.Problem, error) {
	if target == nil {
		return nil, nil
	}
	service := &corev1.Service{}
	err := c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: target.Name}, service)
	if apierrors.IsNotFound(err) {
		return &admission.Problem{Field: field + ".service.name", Message: fmt.Sprintf("Service %s is not in namespace %s", target.Name, namespace)}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("get Service %s: %w", target.Name, err)
	}
	port := target.TargetPort()
	for _, p := range service.Spec.Ports {
		if port.Type == intstr.Int && p.Port == port.IntVal || port.Type == intstr.String && p.Name == port.StrVal {
			return nil, nil
		}
	}
	return &admission.Problem{Field: field + ".service.port", Message: fmt.Sprintf("Service %s has no port %s", target.Name, port.String())}, nil
}

// reviewFile is about a key of a ConfigMap or a Secret, or a file of a volume. Of a Secret and a
// volume no more is read than that it is there.
func (c *cluster) reviewFile(ctx context.Context, namespace string, f local.File) (*admission.Problem, error) {
	key := client.ObjectKey{Namespace: namespace, Name: f.Name}
	object := &metav1.PartialObjectMetadata{}
	object.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind(string(f.Kind)))
	err := c.Get(ctx, key, object)
	if apierrors.IsNotFound(err) {
		return &admission.Problem{Field: "spec", Message: fmt.Sprintf("%s %s is not in namespace %s; the LoadTest needs %v", f.Kind, f.Name, namespace, f)}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("get %s %s: %w", f.Kind, f.Name, err)
	}
	return nil, nil
}
