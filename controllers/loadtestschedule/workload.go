package loadtestschedule

import (
	"context"
	"fmt"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtestschedule/decision"
)

// Annotations by which Kubernetes numbers rollouts, so that one that is taken back is
// another rollout.
const (
	ofDeployment = "deployment.kubernetes.io/revision"
	ofDaemonSet  = appsv1.DeprecatedTemplateGeneration
)

// rollout is where the workload of spec.onRollout stands, or what is wrong with it.
func (r *Reconciler) rollout(ctx context.Context, s *v1beta1.LoadTestSchedule) (*decision.Rollout, *decision.Problem, error) {
	of := s.Spec.OnRollout
	stands, err := r.stands(ctx, of.Kind, types.NamespacedName{Namespace: s.Namespace, Name: of.Name})
	switch {
	case apierrors.IsNotFound(err):
		return nil, &decision.Problem{Reason: v1beta1.ReasonWorkloadNotFound, Message: fmt.Sprintf("%s %s (spec.onRollout) does not exist.", of.Kind, of.Name)}, nil
	case apierrors.IsForbidden(err):
		return nil, &decision.Problem{Reason: v1beta1.ReasonWorkloadForbidden, Message: fmt.Sprintf("The operator may not read %s %s (spec.onRollout); the administrator has to set rollouts.enabled of the chart.", of.Kind, of.Name)}, nil
	case err != nil:
		return nil, nil, fmt.Errorf("get %s: %w", of.Kind, err)
	}
	return stands, nil, nil
}

// stands reads a workload.
func (r *Reconciler) stands(ctx context.Context, kind v1beta1.WorkloadKind, key types.NamespacedName) (*decision.Rollout, error) {
	switch kind {
	case v1beta1.WorkloadStatefulSet:
		set := &appsv1.StatefulSet{}
		if err := r.Uncached.Get(ctx, key, set); err != nil {
			return nil, err
		}
		revision, err := r.revisionOf(ctx, set)
		want := wanted(set.Spec.Replicas)
		s := &set.Status
		return rolloutOf(set, revision, s.ObservedGeneration, want, s.UpdatedReplicas, s.Replicas, s.AvailableReplicas), err
	case v1beta1.WorkloadDaemonSet:
		set := &appsv1.DaemonSet{}
		err := r.Uncached.Get(ctx, key, set)
		s := &set.Status
		return rolloutOf(set, set.Annotations[ofDaemonSet], s.ObservedGeneration, s.DesiredNumberScheduled,
			s.UpdatedNumberScheduled, s.CurrentNumberScheduled, s.NumberAvailable), err
	default:
		d := &appsv1.Deployment{}
		err := r.Uncached.Get(ctx, key, d)
		s := &d.Status
		return rolloutOf(d, d.Annotations[ofDeployment], s.ObservedGeneration, wanted(d.Spec.Replicas), s.UpdatedReplicas, s.Replicas, s.AvailableReplicas), err
	}
}

// rolloutOf is that of a workload which has numbers of pods. It is complete if every pod that
// is wanted is of the latest revision and available, and there is one.
func rolloutOf(o client.Object, revision string, observed int64, want int32, have ...int32) *decision.Rollout {
	complete := o.GetDeletionTimestamp().IsZero() && revision != "" && observed >= o.GetGeneration() && want > 0
	for _, n := range have {
		complete = complete && n == want
	}
	return &decision.Rollout{UID: string(o.GetUID()), Revision: revision, Complete: complete}
}

func wanted(replicas *int32) int32 {
	if replicas == nil {
		return 1
	}
	return *replicas
}

// revisionOf is the number of a StatefulSet's latest revision; empty: it has none yet. The
// name of a revision is the same again when it is rolled back to, and its number is not.
func (r *Reconciler) revisionOf(ctx context.Context, set *appsv1.StatefulSet) (string, error) {
	if set.Status.UpdateRevision == "" {
		return "", nil
	}
	revision := &appsv1.ControllerRevision{}
	err := r.Uncached.Get(ctx, types.NamespacedName{Namespace: set.Namespace, Name: set.Status.UpdateRevision}, revision)
	if err != nil {
		return "", client.IgnoreNotFound(err)
	}
	return strconv.FormatInt(revision.Revision, 10), nil
}
