package replica

import (
	"context"
	"fmt"
	"net/netip"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/types"
	discoveryac "k8s.io/client-go/applyconfigurations/discovery/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/controllers/writes"
)

// +kubebuilder:rbac:groups=discovery.k8s.io,namespace=system,resources=endpointslices,verbs=create
// +kubebuilder:rbac:groups=discovery.k8s.io,namespace=system,resources=endpointslices,resourceNames=loadtest-operator-leader,verbs=patch

// Endpoint is where the leader serves workers.
type Endpoint struct {
	// Service has no selector: its one EndpointSlice, of the same name, is the
	// leader's.
	Service types.NamespacedName
	Address netip.Addr
	Port    int32
}

// portName is that of the Service's port.
const portName = "coordinator"

// Publish directs the Service to the endpoint. It is one write, which replaces another
// leader's.
func (e Endpoint) Publish(ctx context.Context, c client.Client) error {
	family := discoveryv1.AddressTypeIPv6
	if e.Address.Is4() {
		family = discoveryv1.AddressTypeIPv4
	}
	slice := discoveryac.EndpointSlice(e.Service.Name, e.Service.Namespace).
		WithLabels(map[string]string{discoveryv1.LabelServiceName: e.Service.Name, discoveryv1.LabelManagedBy: writes.FieldManager}).
		WithAddressType(family).
		WithPorts(discoveryac.EndpointPort().WithName(portName).WithProtocol(corev1.ProtocolTCP).WithPort(e.Port)).
		WithEndpoints(discoveryac.Endpoint().
			WithAddresses(e.Address.String()).
			WithConditions(discoveryac.EndpointConditions().WithReady(true).WithServing(true).WithTerminating(false)))
	if err := c.Apply(ctx, slice, client.FieldOwner(writes.FieldManager), client.ForceOwnership); err != nil {
		return fmt.Errorf("direct Service %s to %s: %w", e.Service, e.Address, err)
	}
	return nil
}
