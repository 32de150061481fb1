//go:build e2e

package abuse

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// people are those of two teams: one tries abuses, the other is to suffer from them. Each
// has a counter behind Service api.
type people struct {
	attacker, victim *tenant

	once    sync.Once
	stolen  client.Client
	problem error

	onslaught  onslaught
	hostileRun hostileRuns
	callee     callee
}

// tenant is a namespace under the restricted Pod Security Standard, and its people. None
// of them has rights in another namespace.
type tenant struct {
	namespace string
	// editor has the cluster's role edit and the chart's role for editors of LoadTests.
	editor client.Client
	// author has the chart's role for editors of LoadTests, and nothing else.
	author client.Client
	// viewer has the cluster's role view.
	viewer client.Client

	names atomic.Int32

	once    sync.Once
	job     *batchv1.Job
	problem error
}

func newPeople(t *testing.T) *people {
	t.Helper()
	p := &people{attacker: newTenant(t), victim: newTenant(t)}
	for _, tn := range []*tenant{p.attacker, p.victim} {
		if _, err := cluster.StartCounterNamed(t.Context(), tn.namespace, "", "api"); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// newTenant makes a tenant, and deletes its namespace when the test is over.
func newTenant(t *testing.T) *tenant {
	t.Helper()
	return newTenantNamed(t, "abuse-")
}

// newTenantNamed is one whose namespace begins with that prefix: operator/values.yaml has limits of
// its own for some.
func newTenantNamed(t *testing.T, prefix string) *tenant {
	t.Helper()
	ns, err := cluster.NewNamespace(t.Context(), prefix)
	must.Succeed(t, err)
	t.Cleanup(func() {
		must.Report(t, "delete namespace", cluster.API.Delete(context.Background(), ns))
	})
	tn := &tenant{namespace: ns.Name}
	tn.editor = tn.person(t, "editor", "edit", "loadtest-operator-editor")
	tn.author = tn.person(t, "author", "loadtest-operator-editor")
	tn.viewer = tn.person(t, "viewer", "view")
	return tn
}

// person makes a service account with those roles in the namespace, and returns a client
// that has its rights and no others.
func (tn *tenant) person(t *testing.T, name string, roles ...string) client.Client {
	t.Helper()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: tn.namespace, Name: name}}
	if err := cluster.API.Create(t.Context(), account); err != nil {
		t.Fatalf("make %s: %v", name, err)
	}
	for _, role := range roles {
		cluster.Bind(t, tn.namespace, name, role)
	}
	return impersonate(t, tn.namespace, name)
}

// impersonate returns a client with the rights of a service account.
func impersonate(t *testing.T, namespace, account string) client.Client {
	t.Helper()
	config, err := ctrl.GetConfig()
	must.Succeed(t, err)
	config.QPS, config.Burst, config.WarningHandler = 100, 200, rest.NoWarnings{}
	config.Impersonate = rest.ImpersonationConfig{
		UserName: "system:serviceaccount:" + namespace + ":" + account,
		Groups:   []string{"system:serviceaccounts", "system:serviceaccounts:" + namespace, "system:authenticated"},
	}
	c, err := client.New(config, client.Options{Scheme: cluster.API.Scheme()})
	must.Succeed(t, err)
	return c
}

// name is one that no other object of the tenant has.
func (tn *tenant) name() string { return fmt.Sprintf("abuse-%d", tn.names.Add(1)) }

// secretName is a new name that LoadTests may use a Secret by.
func (tn *tenant) secretName() string { return "loadtest-" + tn.name() }

// loadTest is a LoadTest of a new name, from the YAML of its spec. Nothing checks it
// before the API server does.
func (tn *tenant) loadTest(t *testing.T, spec string) *unstructured.Unstructured {
	t.Helper()
	lt := &unstructured.Unstructured{Object: map[string]any{}}
	var fields map[string]any
	must.Succeed(t, yaml.Unmarshal([]byte(spec), &fields))
	lt.Object["spec"] = fields
	lt.SetGroupVersionKind(v1beta1.GroupVersion.WithKind("LoadTest"))
	lt.SetNamespace(tn.namespace)
	lt.SetName(tn.name())
	return lt
}

// byAPI is what the API server says of a request. Without an error the request succeeded.
func byAPI(t *testing.T, err error) attempt {
	t.Helper()
	if err == nil {
		return succeeded("the API server took it")
	}
	words := err.Error()
	has := func(part string) bool { return strings.Contains(words, part) }
	switch {
	case has("ValidatingAdmissionPolicy"):
		return refused(admissionPolicy, words[strings.Index(words, "ValidatingAdmissionPolicy"):])
	case has("violates PodSecurity"):
		return refused(podSecurity, words)
	case apierrors.IsForbidden(err) && has(" cannot "):
		return refused(rbac, words)
	case apierrors.IsUnauthorized(err):
		return refused(authentication, words)
	case apierrors.IsInvalid(err) && (has("LoadTest.loadtest.dev") || has("LoadTestSchedule.loadtest.dev")), has("strict decoding error"):
		_, why, _ := strings.Cut(words, " is invalid: ")
		return refused(schema, cmp.Or(why, words))
	case apierrors.IsInvalid(err), apierrors.IsForbidden(err), apierrors.IsBadRequest(err), apierrors.IsRequestEntityTooLargeError(err):
		return refused(apiServer, words)
	}
	t.Fatalf("not refused, and not done: %v", err)
	return attempt{}
}

// suspended is a LoadTest of the tenant that is held before its start.
func (tn *tenant) suspended(t *testing.T) *unstructured.Unstructured {
	t.Helper()
	lt := tn.loadTest(t, specWith("suspend: true"))
	must.Succeed(t, tn.editor.Create(t.Context(), lt))
	t.Cleanup(func() { _ = cluster.API.Delete(context.Background(), lt) })
	return lt
}

// tokenFor asks for a token for an audience, bound to a pod if there is one.
func tokenFor(audience string, pod *corev1.Pod) *authenticationv1.TokenRequest {
	request := &authenticationv1.TokenRequest{}
	if audience != "" {
		request.Spec.Audiences = []string{audience}
	}
	if pod != nil {
		request.Spec.BoundObjectRef = &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: pod.UID}
	}
	return request
}
