package targetaccess

import (
	"context"
	"errors"
	"fmt"
	"net/netip"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	config "github.com/loadtest-dev/loadtest-operator/api/config/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/controllers/answersize"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
)

// What is behind a target.
//
// +kubebuilder:rbac:groups="",resources=namespaces,verbs=get
// +kubebuilder:rbac:groups=discovery.k8s.io,resources=endpointslices,verbs=list

const (
	// accessPage is how many objects are read at once, unless they are too large for it.
	accessPage = 250
	// maxEndpoints is how many endpoints, and how many pods, of a Service are checked.
	maxEndpoints = 5_000
	// nameLabel is operatorName on the operator's pods.
	nameLabel, operatorName = "app.kubernetes.io/name", "loadtest-operator"
)

// facts reads what a place is judged by. Nothing of it is in a cache.
func (r *reading) facts(ctx context.Context, p policy.Place) (f policy.Facts, err error) {
	if p.IsService() {
		f, err = r.serviceFacts(ctx, p)
	} else {
		f.Never, err = r.clusterAddresses.read(ctx, r.Checker, r.now)
	}
	if apierrors.IsForbidden(err) {
		return policy.Facts{Unreadable: fmt.Sprintf("The operator may not read what it needs to check the target: %v.", err)}, nil
	}
	return f, err
}

// serviceFacts reads no more of a Service than it has to: what is behind one that may not be
// reached is not looked at.
func (r *reading) serviceFacts(ctx context.Context, p policy.Place) (f policy.Facts, err error) {
	c := r.Checker
	var namespace corev1.Namespace
	if err := c.Reader.Get(ctx, types.NamespacedName{Name: p.Namespace}, &namespace); client.IgnoreNotFound(err) != nil {
		return f, fmt.Errorf("get Namespace: %w", err)
	}
	f.AcceptsLoad = namespace.Labels[config.NamespaceLabel] == "true"
	var service corev1.Service
	err = c.Reader.Get(ctx, types.NamespacedName{Namespace: p.Namespace, Name: p.Service}, &service)
	if apierrors.IsNotFound(err) {
		return f, nil
	} else if err != nil {
		return f, fmt.Errorf("get Service: %w", err)
	}
	s := &policy.Service{UID: string(service.UID), Type: string(service.Spec.Type), HasSelector: len(service.Spec.Selector) > 0}
	f.Service = s
	for _, port := range service.Spec.Ports {
		s.Ports = append(s.Ports, policy.Port{Number: port.Port, Name: port.Name})
	}
	s.Addresses = appendAddresses(nil, service.Spec.ClusterIPs...)
	if !s.HasSelector || r.rules.MayReach(p, f) != "" {
		return f, nil
	}
	// Slices first: a pod that comes in between is known, and one that goes is waited for.
	if err := c.readEndpoints(ctx, p, s); err != nil {
		return f, fmt.Errorf("list EndpointSlices: %w", err)
	}
	if err := c.readPods(ctx, p.Namespace, service.Spec.Selector, s); err != nil {
		return f, fmt.Errorf("list pods: %w", err)
	}
	return f, nil
}

func (c *Checker) readEndpoints(ctx context.Context, p policy.Place, s *policy.Service) error {
	return c.pages(ctx, &discoveryv1.EndpointSliceList{}, func(list client.ObjectList) bool {
		for _, slice := range list.(*discoveryv1.EndpointSliceList).Items {
			for _, e := range slice.Endpoints {
				for _, address := range e.Addresses {
					at := policy.Endpoint{Slice: slice.Name, Address: address}
					if ref := e.TargetRef; ref != nil {
						at.Kind, at.Namespace, at.Name = ref.Kind, ref.Namespace, ref.Name
					}
					s.Endpoints = append(s.Endpoints, at)
				}
			}
		}
		s.TooMany = s.TooMany || len(s.Endpoints) > maxEndpoints
		return !s.TooMany
	}, client.InNamespace(p.Namespace), client.MatchingLabels{discoveryv1.LabelServiceName: p.Service})
}

func (c *Checker) readPods(ctx context.Context, namespace string, selector map[string]string, s *policy.Service) error {
	s.Pods = map[string]policy.Pod{}
	return c.pages(ctx, &corev1.PodList{}, func(list client.ObjectList) bool {
		for i := range list.(*corev1.PodList).Items {
			pod := &list.(*corev1.PodList).Items[i]
			kept := policy.Pod{
				OnHost:     pod.Spec.HostNetwork,
				OfOperator: namespace == c.Own.Namespace && pod.Labels[nameLabel] == operatorName,
			}
			// The status of one that has ended still has addresses, which are given to others.
			if pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed {
				for _, ip := range pod.Status.PodIPs {
					kept.Addresses = append(kept.Addresses, ip.IP)
				}
			}
			s.Pods[pod.Name] = kept
		}
		s.TooMany = s.TooMany || len(s.Pods) > maxEndpoints
		return !s.TooMany
	}, client.InNamespace(namespace), client.MatchingLabelsSelector{Selector: labels.SelectorFromSet(selector)})
}

// pages reads a list page by page, as long as each asks for the next. After a page that was too large it reads
// small ones.
func (c *Checker) pages(ctx context.Context, list client.ObjectList, each func(client.ObjectList) (more bool), opts ...client.ListOption) error {
	size := int64(accessPage)
	for next := ""; ; {
		page := list.DeepCopyObject().(client.ObjectList)
		err := c.Reader.List(ctx, page, append(opts, client.Limit(size), client.Continue(next))...)
		if errors.Is(err, answersize.ErrTooLarge) && size > answersize.SmallPage {
			size = answersize.SmallPage
			continue
		}
		if err != nil {
			return err
		}
		if next = page.GetContinue(); !each(page) || next == "" {
			return nil
		}
	}
}

func appendAddresses(list []netip.Addr, texts ...string) []netip.Addr {
	for _, text := range texts {
		if a, err := netip.ParseAddr(text); err == nil {
			list = append(list, a)
		}
	}
	return list
}
