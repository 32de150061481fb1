//go:build e2e

package abuse

import (
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/deviation"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// changeAbuses change what must stay as it is.
var changeAbuses = []abuse{
	{"a run of the name of a Job that is there", operator, "A Job with the name of the LoadTest exists and does not belong to it", takesJob},
	{"the Deployment of the operator", rbac, "cannot delete resource", deletes(&appsv1.Deployment{}, "loadtest-operator")},
	{"the EndpointSlice of the leader", rbac, "cannot delete resource", deletes(&discoveryv1.EndpointSlice{}, "loadtest-operator-leader")},
	{"the lease of the leader", rbac, "cannot delete resource", deletes(&coordinationv1.Lease{}, "loadtest-operator.loadtest.dev")},
	{"the Service of the leader", rbac, "cannot delete resource", deletes(&corev1.Service{}, "loadtest-operator-leader")},
	{"the role of the operator", rbac, "cannot delete resource", deletes(&rbacv1.Role{}, "loadtest-operator-manager")},
	{"the policy of what the operator writes", rbac, "cannot delete resource", func(t *testing.T, p *people) attempt {
		policy := &admissionv1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: "loadtest-operator-writes"}}
		return byAPI(t, p.attacker.editor.Delete(t.Context(), policy, client.DryRunAll))
	}},
	{"the operator's rights for oneself", rbac, "cannot create resource", func(t *testing.T, p *people) attempt {
		binding := &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: p.attacker.namespace},
			RoleRef:    cluster.ClusterRole("loadtest-operator-manager"),
			Subjects:   cluster.ServiceAccount(p.attacker.namespace, "editor"),
		}
		return byAPI(t, p.attacker.editor.Create(t.Context(), binding, client.DryRunAll))
	}},
	{"the operator's configuration of one's own", rbac, "cannot create resource", func(t *testing.T, p *people) attempt {
		own := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: cluster.OperatorNamespace, Name: "mine"}}
		return byAPI(t, p.attacker.editor.Create(t.Context(), own, client.DryRunAll))
	}},

	{"a Secret, by an author of LoadTests", rbac, "cannot get resource", func(t *testing.T, p *people) attempt {
		return byAPI(t, p.attacker.author.Get(t.Context(), client.ObjectKey{Namespace: p.attacker.namespace, Name: "api"}, &corev1.Secret{}))
	}},
	{"a pod, by an author of LoadTests", rbac, "cannot create resource", func(t *testing.T, p *people) attempt {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: p.attacker.namespace, Name: "mine"}, Spec: p.attacker.waiting(t).Spec.Template.Spec}
		return byAPI(t, p.attacker.author.Create(t.Context(), pod, client.DryRunAll))
	}},
	{"a Job, by an author of LoadTests", rbac, "cannot create resource", func(t *testing.T, p *people) attempt {
		return byAPI(t, p.attacker.author.Create(t.Context(), p.attacker.waiting(t), client.DryRunAll))
	}},
	{"a token of a worker, by an author of LoadTests", rbac, "cannot create resource", func(t *testing.T, p *people) attempt {
		account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: p.attacker.namespace, Name: "default"}}
		return byAPI(t, p.attacker.author.SubResource("token").Create(t.Context(), account, tokenFor("", nil)))
	}},
	{"ending a run, by a viewer", rbac, "cannot patch resource", func(t *testing.T, p *people) attempt {
		return byAPI(t, p.attacker.viewer.Patch(t.Context(), p.attacker.run(t), client.RawPatch("application/merge-patch+json", []byte(`{"spec": {"terminate": true}}`))))
	}},
	{"ending another's run", rbac, "cannot patch resource", func(t *testing.T, p *people) attempt {
		return byAPI(t, p.attacker.editor.Patch(t.Context(), p.victim.run(t), client.RawPatch("application/merge-patch+json", []byte(`{"spec": {"terminate": true}}`))))
	}},
	{"deleting another's run", rbac, "cannot delete resource", func(t *testing.T, p *people) attempt {
		return byAPI(t, p.attacker.editor.Delete(t.Context(), p.victim.run(t)))
	}},

	{"an endpoint at the metadata address", apiServer, "link-local", hasEndpoint("169.254.169.254")},
	{"an endpoint at the loopback address", apiServer, "loopback", hasEndpoint("127.0.0.1")},
	{"a privileged pod beside the workers", podSecurity, "violates PodSecurity", func(t *testing.T, p *people) attempt {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: p.attacker.namespace, Name: "mine"}, Spec: p.attacker.waiting(t).Spec.Template.Spec}
		pod.Spec.HostNetwork = true
		return byAPI(t, p.attacker.editor.Create(t.Context(), pod, client.DryRunAll))
	}},
}

// run is the tenant's LoadTest that begins with a pause.
func (tn *tenant) run(t *testing.T) *v1beta1.LoadTest {
	t.Helper()
	return &v1beta1.LoadTest{ObjectMeta: metav1.ObjectMeta{Namespace: tn.namespace, Name: tn.waiting(t).Name}}
}

// deletes deletes an object of the operator's.
func deletes(object client.Object, name string) func(*testing.T, *people) attempt {
	return func(t *testing.T, p *people) attempt {
		t.Helper()
		object := object.DeepCopyObject().(client.Object)
		object.SetNamespace(cluster.OperatorNamespace)
		object.SetName(name)
		return byAPI(t, p.attacker.editor.Delete(t.Context(), object, client.DryRunAll))
	}
}

// takesJob runs a LoadTest of the name of a Job that no LoadTest controls.
func takesJob(t *testing.T, p *people) attempt {
	p.attacker.waiting(t) // the Job is beside it
	key := client.ObjectKey{Namespace: p.attacker.namespace, Name: deviation.Foreign}
	before, after := &batchv1.Job{}, &batchv1.Job{}
	must.Succeed(t, cluster.API.Get(t.Context(), key, before))
	lt := p.attacker.loadTest(t, harmless)
	lt.SetName(key.Name)
	must.Succeed(t, p.attacker.editor.Create(t.Context(), lt))
	got := p.attacker.outcome(t, key)
	if err := cluster.API.Get(t.Context(), key, after); apierrors.IsNotFound(err) || err == nil && (after.UID != before.UID || after.Generation != before.Generation) {
		return succeeded("the Job is not what it was")
	} else if err != nil {
		t.Fatal(err)
	}
	return got
}

// hasEndpoint gives a Service an endpoint at an address.
func hasEndpoint(address string) func(*testing.T, *people) attempt {
	return func(t *testing.T, p *people) attempt {
		t.Helper()
		// The cluster's role edit has no right to write EndpointSlices: the API server is
		// asked by one who has.
		slice := &discoveryv1.EndpointSlice{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: p.attacker.namespace, Name: p.attacker.name(), Labels: map[string]string{discoveryv1.LabelServiceName: "api"},
			},
			AddressType: discoveryv1.AddressTypeIPv4,
			Endpoints:   []discoveryv1.Endpoint{{Addresses: []string{address}}},
			Ports:       []discoveryv1.EndpointPort{{Port: ptr.To[int32](80)}},
		}
		return byAPI(t, cluster.API.Create(t.Context(), slice, client.DryRunAll))
	}
}
