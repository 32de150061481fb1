package enforcer

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
)

const table = "policies"

// run runs an enforcer until the test ends, and returns what it loads.
func run(t *testing.T, client *fake.Clientset) <-chan string {
	t.Helper()
	loads := make(chan string)
	ctx, stop := context.WithCancel(context.Background())
	e := &Enforcer{Client: client, Table: table, Logf: t.Logf, Load: func(ctx context.Context, script string) error {
		select {
		case loads <- script:
		case <-ctx.Done():
		}
		return nil
	}}
	var running sync.WaitGroup
	running.Go(func() {
		if err := e.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { stop(); running.Wait() })
	return loads
}

func next(t *testing.T, loads <-chan string) string {
	t.Helper()
	select {
	case script := <-loads:
		return script
	case <-time.After(time.Minute):
		t.Fatal("nothing is loaded within a minute")
		return ""
	}
}

func denyAll(t *testing.T) *networkingv1.NetworkPolicy {
	return policyOf(t, "deny", `{podSelector: {}, policyTypes: [Ingress]}`)
}

func podAt(address string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "shop"},
		Status:     corev1.PodStatus{Phase: corev1.PodRunning, PodIP: address},
	}
}

func TestFirewallFollowsThePolicies(t *testing.T) {
	client, ctx := fake.NewClientset(podAt("198.19.1.2")), t.Context()
	loads := run(t, client)
	if diff := cmp.Diff(script(table, nil), next(t, loads)); diff != "" {
		t.Errorf("the start does not delete an earlier enforcer's table (-want +got):\n%s", diff)
	}
	policies := client.NetworkingV1().NetworkPolicies("shop")
	if _, err := policies.Create(ctx, denyAll(t), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if got := next(t, loads); !strings.Contains(got, "chain ingress-198.19.1.2 {") {
		t.Errorf("after the policy was created, the script is\n%s", got)
	}
	if _, err := client.CoreV1().Pods("shop").UpdateStatus(ctx, podAt("198.19.2.2"), metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if got := next(t, loads); !strings.Contains(got, "chain ingress-198.19.2.2 {") {
		t.Errorf("after the pod's address changed, the script is\n%s", got)
	}
	if err := policies.Delete(ctx, "deny", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(script(table, nil), next(t, loads)); diff != "" {
		t.Errorf("after the policy was deleted (-want +got):\n%s", diff)
	}
}

func TestScriptIsLoadedOnlyWhenItChanges(t *testing.T) {
	loads := 0
	e := &Enforcer{Table: table, Logf: t.Logf, Load: func(context.Context, string) error { loads++; return nil }}
	relabelled := podAt("198.19.1.2")
	relabelled.Labels = map[string]string{"app": "web"}
	for _, step := range []struct {
		pod  *corev1.Pod
		want int
	}{{podAt("198.19.1.2"), 1}, {relabelled, 1}, {podAt("198.19.2.2"), 2}} {
		now := state{policies: []*networkingv1.NetworkPolicy{denyAll(t)}, pods: []*corev1.Pod{step.pod}}
		if err := e.reconcile(t.Context(), now); err != nil || loads != step.want {
			t.Errorf("%d loads, %v, want %d", loads, err, step.want)
		}
	}
}
