package cluster

import (
	"context"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// Bind binds a service account to a ClusterRole in its namespace.
func Bind(t *testing.T, namespace, account, role string) {
	t.Helper()
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: account + "-" + role},
		RoleRef:    ClusterRole(role),
		Subjects:   ServiceAccount(namespace, account),
	}
	must.Succeed(t, API.Create(t.Context(), binding))
	awaitClusterRole(t, namespace, account, role)
}

// LetReadMetrics lets a service account get the operator's metrics, until the test ends.
func LetReadMetrics(t *testing.T, namespace, account string) {
	t.Helper()
	const role = "loadtest-operator-metrics-reader"
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: namespace + "-" + account},
		RoleRef:    ClusterRole(role),
		Subjects:   ServiceAccount(namespace, account),
	}
	must.Succeed(t, API.Create(t.Context(), binding))
	t.Cleanup(func() {
		if err := API.Delete(context.Background(), binding); err != nil {
			t.Errorf("delete ClusterRoleBinding: %v", err)
		}
	})
	awaitClusterRole(t, namespace, account, role)
}

// ClusterRole is a reference to a ClusterRole.
func ClusterRole(name string) rbacv1.RoleRef {
	return rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name}
}

// ServiceAccount is a service account as the subject of a binding.
func ServiceAccount(namespace, name string) []rbacv1.Subject {
	return []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: name}}
}

func awaitClusterRole(t *testing.T, namespace, account, name string) {
	t.Helper()
	var role rbacv1.ClusterRole
	must.Succeed(t, API.Get(t.Context(), client.ObjectKey{Name: name}, &role))
	AwaitRules(t, namespace, account, role.Rules)
}

// AwaitRules waits until the API server lets a service account do what the first of a
// role's rules says: it reads roles and bindings some time after it has stored them.
func AwaitRules(t *testing.T, namespace, account string, rules []rbacv1.PolicyRule) {
	t.Helper()
	access := authorizationv1.SubjectAccessReviewSpec{User: "system:serviceaccount:" + namespace + ":" + account}
	if rule := rules[0]; len(rule.NonResourceURLs) > 0 {
		access.NonResourceAttributes = &authorizationv1.NonResourceAttributes{Path: rule.NonResourceURLs[0], Verb: rule.Verbs[0]}
	} else {
		access.ResourceAttributes = &authorizationv1.ResourceAttributes{
			Namespace: namespace, Verb: rule.Verbs[0], Group: rule.APIGroups[0], Resource: rule.Resources[0],
		}
	}
	apiserver.AwaitAccess(t, API, access)
}
