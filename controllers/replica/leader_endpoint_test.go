package replica_test

import (
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/controllers/replica"
	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// A leader's write replaces all of what the leader before it wrote, and the same again
// is no change.
func TestServiceLeadsToTheLatestLeaderAlone(t *testing.T) {
	t.Parallel()
	c := apiserver.Client(t)
	service := types.NamespacedName{Namespace: apiserver.Namespace(t), Name: "leader"}
	var version string
	for i, address := range []string{"10.1.0.1", "10.1.0.2", "10.1.0.2", "10.1.0.1"} {
		e := replica.Endpoint{Service: service, Address: netip.MustParseAddr(address), Port: int32(9443)}
		must.Succeed(t, e.Publish(t.Context(), c))
		var slices discoveryv1.EndpointSliceList
		must.Succeed(t, c.List(t.Context(), &slices, client.InNamespace(service.Namespace), client.MatchingLabels{discoveryv1.LabelServiceName: "leader"}))
		if len(slices.Items) != 1 {
			t.Fatalf("%d EndpointSlices, want 1", len(slices.Items))
		}
		got := slices.Items[0]
		want := discoveryv1.EndpointSlice{
			AddressType: discoveryv1.AddressTypeIPv4,
			Endpoints: []discoveryv1.Endpoint{{
				Addresses:  []string{address},
				Conditions: discoveryv1.EndpointConditions{Ready: ptr.To(true), Serving: ptr.To(true), Terminating: ptr.To(false)},
			}},
			Ports: []discoveryv1.EndpointPort{{Name: ptr.To("coordinator"), Protocol: ptr.To(corev1.ProtocolTCP), Port: ptr.To[int32](9443)}},
		}
		if same := got.ResourceVersion == version; same != (i == 2) {
			t.Errorf("write %d: unchanged %t", i, same)
		}
		version = got.ResourceVersion
		if got.Labels[discoveryv1.LabelManagedBy] != "loadtest-operator" {
			t.Errorf("labels %v do not say who manages it", got.Labels)
		}
		got.TypeMeta, got.ObjectMeta = want.TypeMeta, want.ObjectMeta
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("write %d (-want +got):\n%s", i, diff)
		}
	}
}

func TestServiceLeadsToAnIPv6Address(t *testing.T) {
	t.Parallel()
	c := apiserver.Client(t)
	service := types.NamespacedName{Namespace: apiserver.Namespace(t), Name: "leader"}
	e := replica.Endpoint{Service: service, Address: netip.MustParseAddr("fd00::1"), Port: 9443}
	must.Succeed(t, e.Publish(t.Context(), c))
	var got discoveryv1.EndpointSlice
	must.Succeed(t, c.Get(t.Context(), service, &got))
	if got.AddressType != discoveryv1.AddressTypeIPv6 || got.Endpoints[0].Addresses[0] != "fd00::1" {
		t.Errorf("%s %v", got.AddressType, got.Endpoints)
	}
}
