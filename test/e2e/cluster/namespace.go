package cluster

import (
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// Namespace makes a namespace of the test's own, under the restricted Pod
// Security Standard, and deletes it when the test is over.
func Namespace(t *testing.T) string {
	t.Helper()
	return NamespaceNamed(t, "e2e-")
}

// NamespaceNamed is such a namespace, whose name begins with that prefix: the operator's
// configuration has rules of its own for some.
func NamespaceNamed(t *testing.T, prefix string) string {
	t.Helper()
	ns, err := NewNamespace(t.Context(), prefix)
	must.Succeed(t, err)
	t.Cleanup(func() {
		if t.Failed() {
			explain(t, ns.Name)
		}
		if err := API.Delete(context.Background(), ns); client.IgnoreNotFound(err) != nil { // a test may have deleted it
			t.Errorf("delete namespace: %v", err)
		}
	})
	return ns.Name
}

// NewNamespace makes a namespace under the restricted Pod Security Standard. Pods can be
// created in it: their service account, which a controller creates, is there.
func NewNamespace(ctx context.Context, prefix string) (*corev1.Namespace, error) {
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		GenerateName: prefix, Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"},
	}}
	if err := API.Create(ctx, ns); err != nil {
		return nil, fmt.Errorf("create namespace: %w", err)
	}
	return ns, Try(ctx, Patience, func(ctx context.Context) error {
		return API.Get(ctx, client.ObjectKey{Namespace: ns.Name, Name: "default"}, &corev1.ServiceAccount{})
	})
}

// explain prints what a person would look at first.
func explain(t *testing.T, namespace string) {
	for _, args := range [][]string{
		{"get", "loadtests,jobs,pods", "-n", namespace, "-o", "wide"},
		{"get", "events", "-n", namespace, "--sort-by=.lastTimestamp"},
		{"logs", "-n", namespace, "-l", "app.kubernetes.io/part-of=loadtest-targets", "--all-containers", "--prefix", "--tail=15"},
		{"logs", "-n", OperatorNamespace, "-l", "app.kubernetes.io/name=loadtest-operator", "--prefix", "--tail=40"},
	} {
		out, err := Command(context.Background(), "kubectl", args...)
		t.Logf("kubectl %s (%v)\n%s", strings.Join(args, " "), err, out)
	}
}

// CountsPods says whether a quota counts the pods that are there, which it does when its
// controller has seen it.
func CountsPods(ctx context.Context, key client.ObjectKey) error {
	var q corev1.ResourceQuota
	if err := API.Get(ctx, key, &q); err != nil {
		return err
	}
	if q.Status.Used.Pods().IsZero() {
		return fmt.Errorf("quota %s does not count yet", key.Name)
	}
	return nil
}
