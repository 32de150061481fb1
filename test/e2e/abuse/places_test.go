//go:build e2e

package abuse

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// placeAbuses aim at Services that lead to where no tenant may send load.
var placeAbuses = []abuse{
	{"another team's Service", operator, "does not accept load from others", aimsAtTheVictim},
	{"a Service of the own namespace as a proxy", operator, "not allowed as a proxy", aimsAt("service: {name: api}, proxy: {url: 'http://api:80'}")},
	{"a Service that leads to any host", operator, "of type ExternalName", through(corev1.ServiceSpec{
		Type: corev1.ServiceTypeExternalName, ExternalName: "victim.example.com",
	})},
	{"a Service without a selector", operator, "has no spec.selector", through(corev1.ServiceSpec{
		Ports: []corev1.ServicePort{{Port: 80}},
	})},
	{"a headless Service without a selector", operator, "has no spec.selector", through(corev1.ServiceSpec{
		ClusterIP: corev1.ClusterIPNone, Ports: []corev1.ServicePort{{Port: 80}},
	})},
	{"an EndpointSlice by hand, to another team's pod", operator, "which is not a pod; remove the EndpointSlice", throughSlice(nil)},
	{"the same, said to be a pod of the own namespace", operator, "remove the EndpointSlice", throughSlice(func(tn *tenant) *corev1.ObjectReference {
		return &corev1.ObjectReference{Kind: "Pod", Namespace: tn.namespace, Name: "api"}
	})},
}

// aimsAtTheVictim runs a LoadTest against the Service of the other team, which counts.
func aimsAtTheVictim(t *testing.T, people *people) attempt {
	t.Helper()
	return aimsAt("url: 'http://api."+people.victim.namespace+".svc'")(t, people)
}

// through runs a LoadTest against a Service of the attacker's.
func through(spec corev1.ServiceSpec) func(*testing.T, *people) attempt {
	return func(t *testing.T, people *people) attempt {
		t.Helper()
		service := people.attacker.service(t, spec)
		return aimsAt("url: 'http://"+service.Name+"'")(t, people)
	}
}

func (tn *tenant) service(t *testing.T, spec corev1.ServiceSpec) *corev1.Service {
	t.Helper()
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: tn.namespace, Name: tn.name()}, Spec: spec}
	must.Succeed(t, tn.editor.Create(t.Context(), service))
	t.Cleanup(func() { _ = cluster.API.Delete(context.Background(), service) })
	return service
}

// throughSlice has a Service of the attacker's lead to the victim's pod by an EndpointSlice,
// which an administrator writes: role edit has no right to, but many clusters grant it.
func throughSlice(said func(*tenant) *corev1.ObjectReference) func(*testing.T, *people) attempt {
	return func(t *testing.T, people *people) attempt {
		t.Helper()
		var pod corev1.Pod
		must.Succeed(t, cluster.API.Get(t.Context(), client.ObjectKey{Namespace: people.victim.namespace, Name: "api"}, &pod))
		service := people.attacker.service(t, corev1.ServiceSpec{
			Selector: map[string]string{"app": "none"}, Ports: []corev1.ServicePort{{Port: 80}},
		})
		endpoint := discoveryv1.Endpoint{Addresses: []string{pod.Status.PodIP}}
		if said != nil {
			endpoint.TargetRef = said(people.attacker)
		}
		slice := &discoveryv1.EndpointSlice{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: service.Namespace, Name: service.Name,
				Labels: map[string]string{discoveryv1.LabelServiceName: service.Name},
			},
			AddressType: discoveryv1.AddressTypeIPv4,
			Endpoints:   []discoveryv1.Endpoint{endpoint},
			Ports:       []discoveryv1.EndpointPort{{Port: ptr.To[int32](8080)}},
		}
		must.Succeed(t, cluster.API.Create(t.Context(), slice))
		t.Cleanup(func() { _ = cluster.API.Delete(context.Background(), slice) })
		return aimsAt("url: 'http://"+service.Name+"'")(t, people)
	}
}
