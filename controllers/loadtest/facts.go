package loadtest

import (
	"context"
	"fmt"
	"net/netip"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	config "github.com/loadtest-dev/loadtest-operator/api/config/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
)

// What is behind a target, and the addresses that no host may lead to: those of the nodes
// and of the API server, whose Service and EndpointSlice are called kubernetes.
//
// +kubebuilder:rbac:groups="",resources=namespaces,verbs=get
// +kubebuilder:rbac:groups="",resources=nodes,verbs=list
// +kubebuilder:rbac:groups="",resources=services,verbs=get,resourceNames=kubernetes
// +kubebuilder:rbac:groups=discovery.k8s.io,resources=endpointslices,verbs=list
// +kubebuilder:rbac:groups=discovery.k8s.io,resources=endpointslices,verbs=get,resourceNames=kubernetes

const (
	// accessPage is how many objects are read at once.
	accessPage = 250
	// maxEndpoints is how many endpoints, and how many pods, of a Service are checked.
	maxEndpoints = 5_000
	// maxNodes is how many nodes a cluster may have whose addresses are kept.
	maxNodes = 20_000
	// nodesLife is how long the addresses of nodes are kept.
	nodesLife = time.Minute
	// operatorName is the label app.kubernetes.io/name of the operator's pods.
	operatorName = "loadtest-operator"
)

// Own is where the operator itself runs.
type Own struct {
	Namespace string
	Addresses []netip.Addr
}

// facts reads what there is to know of a place. Nothing of it is in a cache.
func (r *Reconciler) facts(ctx context.Context, p policy.Place, now time.Time) (policy.Facts, error) {
	read := r.hostFacts
	if p.IsService() {
		read = r.serviceFacts
	}
	f, err := read(ctx, p, now)
	if apierrors.IsForbidden(err) {
		return policy.Facts{Unreadable: fmt.Sprintf("The operator may not read what it needs to check the target: %v.", err)}, nil
	}
	return f, err
}

func (r *Reconciler) serviceFacts(ctx context.Context, p policy.Place, _ time.Time) (f policy.Facts, err error) {
	var service corev1.Service
	err = r.Uncached.Get(ctx, types.NamespacedName{Namespace: p.Namespace, Name: p.Service}, &service)
	if apierrors.IsNotFound(err) {
		return f, nil
	} else if err != nil {
		return f, fmt.Errorf("get Service: %w", err)
	}
	var namespace corev1.Namespace
	if err := r.Uncached.Get(ctx, types.NamespacedName{Name: p.Namespace}, &namespace); err != nil {
		return f, fmt.Errorf("get Namespace: %w", err)
	}
	f.AcceptsLoad = namespace.Labels[config.NamespaceLabel] == "true"
	s := &policy.Service{Type: string(service.Spec.Type), HasSelector: len(service.Spec.Selector) > 0}
	f.Service = s
	for _, port := range service.Spec.Ports {
		s.Ports = append(s.Ports, policy.Port{Number: port.Port, Name: port.Name})
	}
	for _, ip := range service.Spec.ClusterIPs {
		if a, err := netip.ParseAddr(ip); err == nil {
			s.Addresses = append(s.Addresses, a)
		}
	}
	if !s.HasSelector {
		return f, nil
	}
	// Slices first: a pod that comes in between is known, and one that goes is waited for.
	if err := r.readEndpoints(ctx, p, s); err != nil {
		return f, fmt.Errorf("list EndpointSlices: %w", err)
	}
	if err := r.readPods(ctx, p.Namespace, service.Spec.Selector, s); err != nil {
		return f, fmt.Errorf("list pods: %w", err)
	}
	return f, nil
}

func (r *Reconciler) readEndpoints(ctx context.Context, p policy.Place, s *policy.Service) error {
	return r.pages(ctx, &discoveryv1.EndpointSliceList{}, func(list client.ObjectList) bool {
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

func (r *Reconciler) readPods(ctx context.Context, namespace string, selector map[string]string, s *policy.Service) error {
	s.Pods = map[string]policy.Pod{}
	return r.pages(ctx, &corev1.PodList{}, func(list client.ObjectList) bool {
		for i := range list.(*corev1.PodList).Items {
			pod := &list.(*corev1.PodList).Items[i]
			kept := policy.Pod{
				OnHost:     pod.Spec.HostNetwork,
				OfOperator: namespace == r.Own.Namespace && pod.Labels["app.kubernetes.io/name"] == operatorName,
			}
			for _, ip := range pod.Status.PodIPs {
				kept.Addresses = append(kept.Addresses, ip.IP)
			}
			s.Pods[pod.Name] = kept
		}
		s.TooMany = s.TooMany || len(s.Pods) > maxEndpoints
		return !s.TooMany
	}, client.InNamespace(namespace), client.MatchingLabelsSelector{Selector: labels.SelectorFromSet(selector)})
}

// pages reads a list page by page, as long as each wants the next.
func (r *Reconciler) pages(ctx context.Context, list client.ObjectList, each func(client.ObjectList) (more bool), opts ...client.ListOption) error {
	for next := ""; ; {
		page := list.DeepCopyObject().(client.ObjectList)
		if err := r.Uncached.List(ctx, page, append(opts, client.Limit(accessPage), client.Continue(next))...); err != nil {
			return err
		}
		if next = page.GetContinue(); !each(page) || next == "" {
			return nil
		}
	}
}

// hostFacts are the addresses of the cluster's own that no host may lead to.
func (r *Reconciler) hostFacts(ctx context.Context, _ policy.Place, now time.Time) (f policy.Facts, err error) {
	f.Never = append(f.Never, r.Own.Addresses...)
	api := types.NamespacedName{Namespace: corev1.NamespaceDefault, Name: "kubernetes"}
	var service corev1.Service
	if err := r.Uncached.Get(ctx, api, &service); err != nil {
		return f, fmt.Errorf("get Service of the API server: %w", err)
	}
	f.Never = appendAddresses(f.Never, service.Spec.ClusterIPs...)
	var slice discoveryv1.EndpointSlice
	if err := r.Uncached.Get(ctx, api, &slice); client.IgnoreNotFound(err) != nil {
		return f, fmt.Errorf("get EndpointSlice of the API server: %w", err)
	}
	for _, e := range slice.Endpoints {
		f.Never = appendAddresses(f.Never, e.Addresses...)
	}
	nodes, err := r.nodes.read(ctx, r, now)
	f.Never = append(f.Never, nodes...)
	return f, err
}

// nodeAddresses are those of the cluster's nodes. The zero value is ready.
type nodeAddresses struct {
	mu   sync.Mutex
	at   time.Time
	list []netip.Addr
}

func (n *nodeAddresses) read(ctx context.Context, r *Reconciler, now time.Time) ([]netip.Addr, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.at.IsZero() && now.Before(n.at.Add(nodesLife)) {
		return n.list, nil
	}
	var list []netip.Addr
	count := 0
	err := r.pages(ctx, &corev1.NodeList{}, func(page client.ObjectList) bool {
		for _, node := range page.(*corev1.NodeList).Items {
			count++
			for _, a := range node.Status.Addresses {
				list = appendAddresses(list, a.Address) // a host name is none
			}
		}
		return count <= maxNodes
	})
	switch {
	case err != nil:
		return nil, fmt.Errorf("list nodes: %w", err)
	case count > maxNodes:
		return nil, fmt.Errorf("list nodes: there are more than %d", maxNodes)
	}
	n.at, n.list = now, list
	return list, nil
}

func appendAddresses(list []netip.Addr, texts ...string) []netip.Addr {
	for _, text := range texts {
		if a, err := netip.ParseAddr(text); err == nil {
			list = append(list, a)
		}
	}
	return list
}
