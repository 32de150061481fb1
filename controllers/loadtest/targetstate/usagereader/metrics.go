package usagereader

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime/debug"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/targetstate"
)

// The right to metrics.k8s.io is in config/rbac/optional/usage.yaml alone.

// path is that of the API of a namespace.
const path = "/apis/metrics.k8s.io/v1beta1/namespaces/%s/pods"

// maxBytes bounds an answer: some thousand pods. The API cannot be asked for a part of them.
const maxBytes = 4 << 20

// mostCPU and mostMemory bound what a container can use, so that sums are exact.
var mostCPU, mostMemory = resource.MustParse("1M"), resource.MustParse("1Ei")

// podMetricsList is a PodMetricsList of that API, as far as it is used.
type podMetricsList struct {
	Items []struct {
		Metadata   struct{ Name string }
		Timestamp  metav1.Time
		Window     metav1.Duration
		Containers []struct {
			Name  string
			Usage corev1.ResourceList
		}
	}
}

// uses asks for the use of all pods that the Service selects. It runs beside the passes, whose panics
// are caught: one of its own is an error, and does not end the operator.
func (r *Reader) uses(ctx context.Context, namespace string, of *Readings) (_ []targetstate.Use, selector string, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			logr.FromContextOrDiscard(ctx).Error(fmt.Errorf("%v", cause), "cannot read what pods use", "stack", string(debug.Stack()))
			err = errors.New("the operator failed; its log says how")
		}
	}()
	if selector, err = r.selector(ctx, namespace, of); err != nil {
		return nil, "", err
	}
	body, err := r.Metrics.Get().AbsPath(fmt.Sprintf(path, namespace)).Param("labelSelector", selector).SetHeader("Accept", "application/json").Stream(ctx)
	if err != nil {
		return nil, selector, err
	}
	defer func() { _ = body.Close() }() // it was read as far as it is wanted
	raw, err := io.ReadAll(io.LimitReader(body, maxBytes+1))
	switch {
	case err != nil:
		return nil, selector, err
	case len(raw) > maxBytes:
		return nil, selector, fmt.Errorf("the answer has more than %d bytes", maxBytes)
	}
	uses, err := usesOf(raw)
	return uses, selector, err
}

// selector is that of the Service of the step, which is read once.
func (r *Reader) selector(ctx context.Context, namespace string, of *Readings) (string, error) {
	of.mu.Lock()
	known := of.selector
	of.mu.Unlock()
	if known != "" {
		return known, nil
	}
	var service corev1.Service
	if err := r.API.Get(ctx, types.NamespacedName{Namespace: namespace, Name: of.sample.Service}, &service); err != nil {
		return "", fmt.Errorf("get Service: %w", err)
	}
	if len(service.Spec.Selector) == 0 {
		return "", errors.New("the Service has no selector")
	}
	return labels.SelectorFromSet(service.Spec.Selector).String(), nil
}

// usesOf reads an answer. What a container does not tell is left out with it.
func usesOf(raw []byte) (list []targetstate.Use, err error) {
	var answer podMetricsList
	if err := json.Unmarshal(raw, &answer); err != nil {
		return nil, fmt.Errorf("read the answer: %w", err)
	}
	for i := range answer.Items {
		pod := &answer.Items[i]
		for _, c := range pod.Containers {
			cpu, memory := c.Usage[corev1.ResourceCPU], c.Usage[corev1.ResourceMemory]
			if _, told := c.Usage[corev1.ResourceCPU]; !told || cpu.Sign() < 0 || memory.Sign() < 0 || pod.Window.Duration <= 0 {
				continue
			}
			list = append(list, targetstate.Use{
				Pod: pod.Metadata.Name, Container: c.Name,
				From: pod.Timestamp.Add(-pod.Window.Duration), To: pod.Timestamp.Time,
				NanoCPU: least(cpu, mostCPU).ScaledValue(resource.Nano), Memory: least(memory, mostMemory).Value(),
			})
		}
	}
	return list, nil
}

func least(a, b resource.Quantity) *resource.Quantity {
	if a.Cmp(b) > 0 {
		return &b
	}
	return &a
}

// problemOf is why nothing was read, in a sentence.
func problemOf(err error) string {
	switch {
	case apierrors.IsNotFound(err):
		return fmt.Sprintf("The cluster does not serve the resource metrics API, as metrics-server does, or the Service is gone: %v.", err)
	case apierrors.IsForbidden(err):
		return fmt.Sprintf("The operator may not read what the pods of the target use (the chart's value environment.usage): %v.", err)
	}
	return fmt.Sprintf("The resource metrics API could not be read: %v.", err)
}
