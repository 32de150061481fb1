package deviation

import (
	"context"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Deviation is a write that must be refused.
type Deviation struct {
	Name string
	// Words are a part of what the refusal must say.
	Words string
	// Try tries it with the operator's rights, without effect. Job is one that the
	// operator may create, and own the operator's namespace.
	Try func(ctx context.Context, operator client.Client, job *batchv1.Job, own string) error
}

// All are all deviations.
func All() []Deviation { return slices.Concat(jobs, results(), loadTests(), others()) }

// others are writes in the operator's namespace.
func others() []Deviation {
	inOwn := func(object func(meta metav1.ObjectMeta) client.Object) func(context.Context, client.Client, *batchv1.Job, string) error {
		return func(ctx context.Context, c client.Client, _ *batchv1.Job, own string) error {
			return c.Create(ctx, object(metav1.ObjectMeta{Namespace: own, Name: "another"}), client.DryRunAll)
		}
	}
	return []Deviation{
		{"a token of a service account, as a Secret, by the operator", "may not CREATE /secrets another", inOwn(func(meta metav1.ObjectMeta) client.Object {
			meta.Annotations = map[string]string{corev1.ServiceAccountNameKey: "default"}
			return &corev1.Secret{ObjectMeta: meta, Type: corev1.SecretTypeServiceAccountToken}
		})},
		{"endpoints of another Service, by the operator", "may not CREATE discovery.k8s.io/endpointslices another", inOwn(func(meta metav1.ObjectMeta) client.Object {
			return &discoveryv1.EndpointSlice{ObjectMeta: meta, AddressType: discoveryv1.AddressTypeIPv4}
		})},
		{"another's lease, by the operator", "may not CREATE coordination.k8s.io/leases another", inOwn(func(meta metav1.ObjectMeta) client.Object {
			return &coordinationv1.Lease{ObjectMeta: meta}
		})},
		{"deleting a Job that no LoadTest controls, by the operator", "deletes only Jobs that a LoadTest controls", deleteForeign},
		{"deleting a LoadTest that has not finished, by the operator", "deletes only LoadTests that have finished", deleteOwner},
	}
}

// deleteForeign deletes a Job that the operator did not create.
func deleteForeign(ctx context.Context, c client.Client, job *batchv1.Job, _ string) error {
	foreign := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: job.Namespace, Name: Foreign}}
	return c.Delete(ctx, foreign, client.DryRunAll)
}

// Foreign is the name of a Job that must be in the namespace, and that no LoadTest
// controls.
const Foreign = "backup"

// deleteOwner deletes the LoadTest of the Job.
func deleteOwner(ctx context.Context, c client.Client, job *batchv1.Job, _ string) error {
	owner := &metav1.PartialObjectMetadata{
		TypeMeta:   metav1.TypeMeta{APIVersion: job.OwnerReferences[0].APIVersion, Kind: job.OwnerReferences[0].Kind},
		ObjectMeta: metav1.ObjectMeta{Namespace: job.Namespace, Name: job.OwnerReferences[0].Name},
	}
	return c.Delete(ctx, owner, client.DryRunAll)
}
