package simulated

import (
	"context"
	"fmt"
	"sync"

	authenticationv1 "k8s.io/api/authentication/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
)

// Kubelet brings the pods of each new Job up, and a simulated worker in each.
type Kubelet struct {
	client client.WithWatch
	waker  *Waker

	mu     sync.Mutex
	starts []Start
	errs   []error
	wg     sync.WaitGroup
}

// StartKubelet serves Jobs until ctx ends; Wait waits for that.
func StartKubelet(ctx context.Context, c client.WithWatch, waker *Waker) (*Kubelet, error) {
	k := &Kubelet{client: c, waker: waker}
	jobs, err := c.Watch(ctx, &batchv1.JobList{}, client.InNamespace(Namespace))
	if err != nil {
		return nil, fmt.Errorf("watch Jobs: %w", err)
	}
	k.wg.Go(func() {
		defer jobs.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case e, ok := <-jobs.ResultChan():
				if !ok {
					return
				}
				if job, isJob := e.Object.(*batchv1.Job); isJob && e.Type == watch.Added {
					for n := range *job.Spec.Completions {
						k.wg.Go(func() { k.note(k.bringUp(ctx, job, n)) })
					}
				}
			}
		}
	})
	return k, nil
}

// Wait waits until all workers have ended and returns how their steps began.
func (k *Kubelet) Wait() ([]Start, []error) {
	k.wg.Wait()
	return k.Take()
}

// Take returns how the steps began that did since it was last called, and what went
// wrong.
func (k *Kubelet) Take() (starts []Start, errs []error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	starts, errs, k.starts, k.errs = k.starts, k.errs, nil, nil
	return starts, errs
}

func (k *Kubelet) note(err error) {
	if err != nil {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.errs = append(k.errs, err)
	}
}

func (k *Kubelet) began(s Start) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.starts = append(k.starts, s)
}

// bringUp makes a pod, has it run, and lives as its worker.
func (k *Kubelet) bringUp(ctx context.Context, job *batchv1.Job, n int32) error {
	pod := &corev1.Pod{Spec: *job.Spec.Template.Spec.DeepCopy()}
	index := fmt.Sprint(n)
	pod.Namespace, pod.Name = job.Namespace, fmt.Sprintf("%s-%d-bench", job.Name, n)
	pod.Spec.ServiceAccountName, pod.Spec.NodeName = account, "simulated"
	pod.Labels = map[string]string{batchv1.JobCompletionIndexAnnotation: index}
	for key, value := range job.Spec.Template.Labels {
		pod.Labels[key] = value
	}
	pod.Annotations = map[string]string{batchv1.JobCompletionIndexAnnotation: index}
	pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(job, batchv1.SchemeGroupVersion.WithKind("Job"))}
	if err := k.client.Create(ctx, pod); err != nil {
		return fmt.Errorf("create pod: %w", err)
	}
	token, err := k.token(ctx, pod)
	if err != nil {
		return err
	}
	if err := k.phase(ctx, pod, corev1.PodRunning); err != nil {
		return err
	}
	w, err := newWorker(pod, n, token, k.waker, k.began)
	if err != nil {
		return err
	}
	if err := w.live(ctx); err != nil {
		return fmt.Errorf("worker %s: %w", pod.Name, err)
	}
	return k.phase(ctx, pod, corev1.PodSucceeded)
}

// token is one that is bound to the pod, as the kubelet asks for it.
func (k *Kubelet) token(ctx context.Context, pod *corev1.Pod) (string, error) {
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
		Audiences:      []string{workerv1.Audience},
		BoundObjectRef: &authenticationv1.BoundObjectReference{Kind: "Pod", APIVersion: "v1", Name: pod.Name, UID: pod.UID},
	}}
	owner := &corev1.ServiceAccount{}
	owner.Namespace, owner.Name = pod.Namespace, account
	if err := k.client.SubResource("token").Create(ctx, owner, request); err != nil {
		return "", fmt.Errorf("request a token: %w", err)
	}
	return request.Status.Token, nil
}

func (k *Kubelet) phase(ctx context.Context, pod *corev1.Pod, phase corev1.PodPhase) error {
	before := pod.DeepCopy()
	pod.Status.Phase = phase
	if err := k.client.Status().Patch(ctx, pod, client.MergeFrom(before)); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("patch pod: %w", err)
	}
	return nil
}
