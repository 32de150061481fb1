package podreader

import (
	"context"
	"fmt"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/targetstate"
	"github.com/loadtest-dev/loadtest-operator/controllers/writes"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// +kubebuilder:rbac:groups=autoscaling,resources=horizontalpodautoscalers,verbs=list

const (
	// timeout bounds a reading, for which the end of a step waits.
	timeout = 2 * time.Second
	// maxPods is how many pods behind a Service are read, and maxCounted how many more of
	// them are counted.
	maxPods, maxCounted = 100, 5_000
	// countPage is how many are counted at once, by their metadata.
	countPage = 500
	// maxAutoscalers is how many autoscalers of a namespace are looked through.
	maxAutoscalers = 100
)

// notEnded selects the pods that have not ended. Evictions leave pods behind, perhaps more than are read.
var notEnded = client.MatchingFieldsSelector{Selector: fields.AndSelectors(
	fields.OneTermNotEqualSelector("status.phase", string(corev1.PodSucceeded)), fields.OneTermNotEqualSelector("status.phase", string(corev1.PodFailed)),
)}

// Reader reads what is behind the target of a step. A nil *Reader is one that is not to
// read it, and says so.
type Reader struct {
	// API reads past the cache, which has no pods of targets. Its answers are bounded as package
	// answersize has it.
	API client.Reader
}

// Read makes a reading that a decision wants. Whatever goes wrong is a problem that the
// reading names, and no error: the run goes on.
func (r *Reader) Read(ctx context.Context, lt *v1beta1.LoadTest, wanted targetstate.Look, now time.Time) *targetstate.Seen {
	seen := &targetstate.Seen{Look: wanted, At: now}
	if r == nil {
		seen.Problem = "The operator is configured not to read the pods of targets."
		return seen
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	seen.Service = lifecycle.LookedAt(&lt.Spec, &lt.Status.Steps[wanted.Step]).Name
	if err := r.readTarget(ctx, lt.Namespace, seen); err != nil {
		seen.Problem = text.Clean(problemOf(err, seen.Service), writes.MaxMessage)
	}
	return seen
}

func problemOf(err error, service string) string {
	if apierrors.IsForbidden(err) {
		return fmt.Sprintf("The operator may not read the pods of Service %s: %v", service, err)
	}
	return fmt.Sprintf("The pods of Service %s could not be read: %v", service, err)
}

// readTarget reads the pods that a Service selects, and their autoscaler. They are in no
// cache: there may be thousands in the cluster, and they are read twice in a step.
func (r *Reader) readTarget(ctx context.Context, namespace string, seen *targetstate.Seen) error {
	var service corev1.Service
	if err := r.API.Get(ctx, types.NamespacedName{Namespace: namespace, Name: seen.Service}, &service); err != nil {
		return fmt.Errorf("get Service: %w", err)
	}
	if len(service.Spec.Selector) == 0 {
		return fmt.Errorf("it has no selector")
	}
	var pods corev1.PodList
	selected := []client.ListOption{client.InNamespace(namespace), client.MatchingLabelsSelector{Selector: labels.SelectorFromSet(service.Spec.Selector)}, notEnded}
	if err := r.API.List(ctx, &pods, append(selected, client.Limit(maxPods))...); err != nil {
		return fmt.Errorf("list pods: %w", err)
	}
	var err error
	if seen.Unread, err = r.countRest(ctx, selected, pods.Continue); err != nil {
		return fmt.Errorf("count pods: %w", err)
	}
	owners := map[workload]bool{}
	for i := range pods.Items {
		pod := &pods.Items[i]
		if !pod.DeletionTimestamp.IsZero() {
			continue
		}
		seen.Pods = append(seen.Pods, targetPod(pod))
		owners[workloadOf(pod)] = true
	}
	if seen.Autoscaler, err = r.autoscaler(ctx, namespace, owners); err != nil {
		return fmt.Errorf("list autoscalers: %w", err)
	}
	return nil
}

// countRest counts the pods beyond those that were read.
func (r *Reader) countRest(ctx context.Context, selected []client.ListOption, after string) (n int32, err error) {
	for looked := 0; after != "" && looked < maxCounted; {
		rest := metav1.PartialObjectMetadataList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PodList"}}
		if err := r.API.List(ctx, &rest, append(selected, client.Limit(countPage), client.Continue(after))...); err != nil {
			return 0, err
		}
		for i := range rest.Items {
			if rest.Items[i].DeletionTimestamp.IsZero() {
				n++
			}
		}
		looked, after = looked+len(rest.Items), rest.Continue
	}
	return n, nil
}

// workload is what an autoscaler scales.
type workload struct{ kind, name string }

// workloadOf is the workload of a pod: a Deployment names its ReplicaSets after itself and
// the hash of their pods.
func workloadOf(pod *corev1.Pod) workload {
	owner := metav1.GetControllerOf(pod)
	if owner == nil {
		return workload{}
	}
	if hash := pod.Labels[appsv1.DefaultDeploymentUniqueLabelKey]; owner.Kind == "ReplicaSet" && hash != "" {
		return workload{"Deployment", strings.TrimSuffix(owner.Name, "-"+hash)}
	}
	return workload{owner.Kind, owner.Name}
}

// autoscaler is the one of a workload; nil: there is none, or it may not be read. One that
// could not be read once must not seem to be gone.
func (r *Reader) autoscaler(ctx context.Context, namespace string, of map[workload]bool) (*v1beta1.TargetAutoscaler, error) {
	var list autoscalingv2.HorizontalPodAutoscalerList
	err := r.API.List(ctx, &list, client.InNamespace(namespace), client.Limit(maxAutoscalers))
	if err != nil && !apierrors.IsForbidden(err) {
		return nil, err
	}
	for _, a := range list.Items {
		if ref := a.Spec.ScaleTargetRef; of[workload{ref.Kind, ref.Name}] {
			least := int32(1)
			if a.Spec.MinReplicas != nil {
				least = *a.Spec.MinReplicas
			}
			return &v1beta1.TargetAutoscaler{Name: a.Name, Min: least, Max: a.Spec.MaxReplicas}, nil
		}
	}
	return nil, nil
}
