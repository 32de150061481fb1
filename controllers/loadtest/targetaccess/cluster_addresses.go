package targetaccess

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// The addresses that no host may lead to: those of the API server, whose Service and
// EndpointSlice are called kubernetes, of the operator and of the nodes.
//
// +kubebuilder:rbac:groups="",resources=nodes,verbs=list
// +kubebuilder:rbac:groups="",resources=services,verbs=get,resourceNames=kubernetes
// +kubebuilder:rbac:groups=discovery.k8s.io,resources=endpointslices,verbs=get,resourceNames=kubernetes

const (
	// clusterAddressLife is how long those addresses are kept. All runs share them.
	clusterAddressLife = time.Minute
	// maxNodes is how many nodes a cluster may have whose addresses are kept.
	maxNodes = 20_000
)

// clusterAddresses are the addresses that no host may lead to. The zero value is ready.
type clusterAddresses struct {
	mu   sync.Mutex
	at   time.Time
	list []netip.Addr
}

func (f *clusterAddresses) read(ctx context.Context, c *Checker, now time.Time) ([]netip.Addr, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.at.IsZero() && now.Before(f.at.Add(clusterAddressLife)) {
		return f.list, nil
	}
	list := slices.Clone(c.Own.Addresses)
	for _, read := range []func(context.Context) ([]netip.Addr, error){c.apiServerAddresses, c.operatorAddresses, c.nodeAddresses} {
		more, err := read(ctx)
		if err != nil {
			return nil, err
		}
		list = append(list, more...)
	}
	f.at, f.list = now, list
	return list, nil
}

func (c *Checker) apiServerAddresses(ctx context.Context) ([]netip.Addr, error) {
	name := types.NamespacedName{Namespace: corev1.NamespaceDefault, Name: "kubernetes"}
	list, err := c.serviceAddresses(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("get Service of the API server: %w", err)
	}
	var slice discoveryv1.EndpointSlice
	if err := c.Reader.Get(ctx, name, &slice); client.IgnoreNotFound(err) != nil {
		return nil, fmt.Errorf("get EndpointSlice of the API server: %w", err)
	}
	for _, e := range slice.Endpoints {
		list = appendAddresses(list, e.Addresses...)
	}
	return list, nil
}

// operatorAddresses are those of the operator's pods, the leader and those that can take
// over, and of each Service of its namespace that leads to one of them.
func (c *Checker) operatorAddresses(ctx context.Context) (list []netip.Addr, err error) {
	in := client.InNamespace(c.Own.Namespace)
	err = c.pages(ctx, &corev1.PodList{}, func(page client.ObjectList) bool {
		for _, pod := range page.(*corev1.PodList).Items {
			for _, ip := range pod.Status.PodIPs {
				list = appendAddresses(list, ip.IP)
			}
		}
		return true
	}, in, client.MatchingLabels{nameLabel: operatorName})
	if err != nil {
		return nil, fmt.Errorf("list the operator's pods: %w", err)
	}
	pods, services := slices.Concat(list, c.Own.Addresses), map[string]bool{}
	err = c.pages(ctx, &discoveryv1.EndpointSliceList{}, func(page client.ObjectList) bool {
		for _, slice := range page.(*discoveryv1.EndpointSliceList).Items {
			for _, e := range slice.Endpoints {
				if slices.ContainsFunc(appendAddresses(nil, e.Addresses...), func(a netip.Addr) bool { return slices.Contains(pods, a) }) {
					services[slice.Labels[discoveryv1.LabelServiceName]] = true
				}
			}
		}
		return true
	}, in)
	if err != nil {
		return nil, fmt.Errorf("list EndpointSlices of the operator: %w", err)
	}
	for name := range services {
		more, err := c.serviceAddresses(ctx, types.NamespacedName{Namespace: c.Own.Namespace, Name: name})
		if client.IgnoreNotFound(err) != nil {
			return nil, fmt.Errorf("get Service %s of the operator: %w", name, err)
		}
		list = append(list, more...)
	}
	return list, nil
}

func (c *Checker) serviceAddresses(ctx context.Context, name types.NamespacedName) ([]netip.Addr, error) {
	var service corev1.Service
	if err := c.Reader.Get(ctx, name, &service); err != nil {
		return nil, err
	}
	return appendAddresses(nil, service.Spec.ClusterIPs...), nil
}

func (c *Checker) nodeAddresses(ctx context.Context) (list []netip.Addr, err error) {
	count := 0
	err = c.pages(ctx, &corev1.NodeList{}, func(page client.ObjectList) bool {
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
	return list, nil
}
