package loadtest_test

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/targetaccess"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

const (
	leaderAddress, standbyAddress = "10.1.7.1", "10.1.7.2"
	otherAddress                  = "10.1.7.3"
)

// operators makes the operator's namespace: a leader, a standby, a Service that leads to
// either, and one that leads to another pod. It returns their addresses.
func operators(t *testing.T) (namespace, own, other string) {
	t.Helper()
	namespace = apiserver.Namespace(t)
	for name, address := range map[string]string{"leader": leaderAddress, "standby": standbyAddress, "other": otherAddress} {
		pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "a", Image: "a"}}}}
		pod.Namespace, pod.Name = namespace, name
		if name != "other" {
			pod.Labels = map[string]string{"app.kubernetes.io/name": "loadtest-operator"}
		}
		must.Succeed(t, apiserver.Client(t).Create(t.Context(), pod))
		pod.Status.PodIPs = []corev1.PodIP{{IP: address}}
		pod.Status.PodIP = address
		must.Succeed(t, apiserver.Client(t).Status().Update(t.Context(), pod))
	}
	return namespace, serviceTo(t, namespace, "metrics", standbyAddress), serviceTo(t, namespace, "other", otherAddress)
}

// serviceTo makes a Service that leads to an address, and returns its own.
func serviceTo(t *testing.T, namespace, name, address string) string {
	t.Helper()
	service := &corev1.Service{Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 8443}}}}
	slice := &discoveryv1.EndpointSlice{
		ObjectMeta:  metav1.ObjectMeta{Namespace: namespace, Name: name + "-x", Labels: map[string]string{discoveryv1.LabelServiceName: name}},
		AddressType: discoveryv1.AddressTypeIPv4, Endpoints: []discoveryv1.Endpoint{{Addresses: []string{address}}},
	}
	service.Namespace, service.Name = namespace, name
	c := apiserver.Client(t)
	must.Succeed(t, c.Create(t.Context(), service))
	must.Succeed(t, c.Create(t.Context(), slice))
	return service.Spec.ClusterIP
}

// everywhere allows whatever the operator does not refuse.
var everywhere = limitedTo("limits: {runs: 10000, workers: 100000, namespaces: [{runs: 10000}]}\ntargets: {rules: [{hosts: ['*'], cidrs: [0.0.0.0/0]}]}")

// aiming is a LoadTest with that target, and the operator.
func aiming(t *testing.T, at, namespace string) (*fixture, *v1beta1.LoadTest) {
	t.Helper()
	lt := withoutService(t)
	lt.Spec.Target.URL = at
	must.Succeed(t, apiserver.Client(t).Update(t.Context(), lt))
	r := newFixture(t, apiserver.Client(t))
	r.Policy = func() *policy.Policy { return everywhere }
	r.TargetAccess.Own = targetaccess.Own{Namespace: namespace, Addresses: []netip.Addr{netip.MustParseAddr(leaderAddress)}}
	return r, lt
}

func TestNoAddressOfTheOperatorIsATarget(t *testing.T) {
	t.Parallel()
	namespace, own, other := operators(t)
	for address, refused := range map[string]bool{leaderAddress: true, standbyAddress: true, own: true, otherAddress: false, other: false} {
		r, lt := aiming(t, "http://"+address+":8443", namespace)
		for range 3 {
			r.mustPass(lt)
		}
		said := strings.Join(messages(lt), "\n")
		if strings.Contains(said, "address "+address+" belongs to a node, the API server, the operator") != refused || lt.Status.HasAccess() == refused {
			t.Errorf("%s: refused %t, want %t; conditions:\n%s", address, !refused, refused, said)
		}
	}
}

// The operator's own Secrets have names that others may use, and the key of the coordinator is one.
func TestNoLoadTestUsesASecretOfTheOperatorsNamespace(t *testing.T) {
	t.Parallel()
	for _, isOwn := range []bool{true, false} {
		lt := withoutService(t)
		secret := v1beta1.KeyReference{Name: "loadtest-operator-coordinator", Key: "tls.key"}
		lt.Spec.Target.Headers = []v1beta1.Header{{Name: "A", ValueFrom: &v1beta1.HeaderSource{Secret: secret}}}
		must.Succeed(t, apiserver.Client(t).Update(t.Context(), lt))
		r := newFixture(t, apiserver.Client(t))
		r.Policy = func() *policy.Policy { return everywhere }
		if isOwn {
			r.Namespace = lt.Namespace
		}
		for range 3 {
			r.mustPass(lt)
		}
		const want = "spec names Secret loadtest-operator-coordinator: a LoadTest uses no Secret of the operator's own namespace; create both in another."
		if said := strings.Join(messages(lt), "\n"); strings.Contains(said, want) != isOwn {
			t.Errorf("in the operator's own namespace %t; conditions:\n%s", isOwn, said)
		}
	}
}

// Another target is judged by where it leads to, as the first is.
func TestOtherTargetsDoNotLeadToTheOperator(t *testing.T) {
	t.Parallel()
	namespace, own, other := operators(t)
	for address, refused := range map[string]bool{leaderAddress: true, standbyAddress: true, own: true, otherAddress: false, other: false} {
		r, lt := alsoAiming(t, v1beta1.OtherTarget{Name: "identity", URL: "http://" + address + ":8443"}, namespace)
		for range 3 {
			r.mustPass(lt)
		}
		said := strings.Join(messages(lt), "\n")
		if strings.Contains(said, "spec.otherTargets[identity]: address "+address+" belongs to a node, the API server, the operator") != refused || lt.Status.HasAccess() == refused {
			t.Errorf("%s: refused %t, want %t; conditions:\n%s", address, !refused, refused, said)
		}
	}
	// The worker, which alone resolves a name, is sent the addresses for each target.
	r, lt := alsoAiming(t, v1beta1.OtherTarget{Name: "identity", URL: "http://identity.example.com"}, namespace)
	for range 3 {
		r.mustPass(lt)
	}
	bringPods(t, lt)
	r.mustPass(lt)
	d := r.workers.last()
	if len(d.Assignments) == 0 || len(d.Assignments[0].GetOtherTargets()) != 1 {
		t.Fatalf("assignments %v; WorkersReady: %s", d.Assignments, workersReady(lt).Message)
	}
	if denied := d.Assignments[0].GetOtherTargets()[0].GetDestinations().GetDenied(); !slices.Contains(denied, leaderAddress+"/32") || slices.Contains(denied, otherAddress+"/32") {
		t.Errorf("denied are %v", denied)
	}
}

// The other target that versus names is judged once, as the control, and others beside it by themselves.
func TestNoControlLeadsToTheOperator(t *testing.T) {
	t.Parallel()
	namespace, _, other := operators(t)
	for addresses, says := range map[[2]string]string{
		{leaderAddress, other}: "spec.otherTargets[v3]: address " + leaderAddress + " belongs to",
		{other, leaderAddress}: "spec.otherTargets[identity]: address " + leaderAddress + " belongs to",
		{other, otherAddress}:  "",
	} {
		r, lt := alsoAiming(t, v1beta1.OtherTarget{Name: "identity", URL: "http://" + addresses[1] + ":8443"}, namespace)
		lt.Spec.OtherTargets = slices.Insert(lt.Spec.OtherTargets, 0, v1beta1.OtherTarget{Name: "v3", URL: "http://" + addresses[0] + ":8080"})
		lt.Spec.Versus = &v1beta1.Versus{Target: "v3"}
		must.Succeed(t, apiserver.Client(t).Update(t.Context(), lt))
		for range 3 {
			r.mustPass(lt)
		}
		said, internal := strings.Join(messages(lt), "\n"), &lt.Status.Internal
		if !strings.Contains(said, says) || lt.Status.HasAccess() != (says == "") {
			t.Errorf("%v: want %q; conditions:\n%s", addresses, says, said)
		}
		if says != "" {
			continue
		}
		if internal.ControlAccess.Allowed[0].Range != other+"/32" || len(internal.OtherAccess) != 1 || internal.OtherAccess[0].Allowed[0].Range != otherAddress+"/32" {
			t.Errorf("the control has %+v, others %+v", internal.ControlAccess, internal.OtherAccess)
		}
	}
}

// alsoAiming is a LoadTest of which one request goes to another target, and the operator.
func alsoAiming(t *testing.T, other v1beta1.OtherTarget, namespace string) (*fixture, *v1beta1.LoadTest) {
	t.Helper()
	r, lt := aiming(t, "http://shop.example.com", namespace)
	token := *lt.Spec.Requests[0].DeepCopy()
	token.Name, token.Target = "token", other.Name
	lt.Spec.Requests, lt.Spec.OtherTargets = append(lt.Spec.Requests, token), []v1beta1.OtherTarget{other}
	must.Succeed(t, apiserver.Client(t).Update(t.Context(), lt))
	return r, lt
}

// messages are those of the conditions.
func messages(lt *v1beta1.LoadTest) (list []string) {
	for _, c := range lt.Status.Conditions {
		list = append(list, c.Message)
	}
	return list
}

// The worker, which alone resolves a name, is sent them.
func TestNoHostLeadsToTheOperator(t *testing.T) {
	t.Parallel()
	namespace, own, other := operators(t)
	r, lt := aiming(t, "http://shop.example.com", namespace)
	for range 3 {
		r.mustPass(lt)
	}
	bringPods(t, lt)
	r.mustPass(lt)
	d := r.workers.last()
	if len(d.Assignments) == 0 {
		t.Fatalf("no assignments; WorkersReady: %s", workersReady(lt).Message)
	}
	denied := d.Assignments[0].GetTarget().GetDestinations().GetDenied()
	for address, want := range map[string]bool{leaderAddress: true, standbyAddress: true, own: true, otherAddress: false, other: false} {
		if slices.Contains(denied, address+"/32") != want {
			t.Errorf("%s: denied %t, want %t: %v", address, !want, want, denied)
		}
	}
}

// A policy that changes during a pass is that of the next one.
func TestPassReadsThePolicyOnce(t *testing.T) {
	t.Parallel()
	lt := hello(t)
	r := newFixture(t, apiserver.Client(t))
	reads := 0
	r.Policy = func() *policy.Policy { reads++; return unlimited }
	for i := range 12 {
		if i == 3 {
			bringPods(t, lt)
		}
		reads = 0
		r.mustPass(lt)
		if r.after(1e9); reads != 1 {
			t.Errorf("pass %d, %s: the policy was read %d times", i, lt.Status.Phase, reads)
		}
	}
	if lt.Status.Verdict == "" {
		t.Errorf("the run is %s: its end was not seen", lt.Status.Phase)
	}
}
