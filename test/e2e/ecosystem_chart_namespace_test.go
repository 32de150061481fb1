//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	shortRunSends = 100
	shortRun      = `
target: {service: {name: counter}, timeout: 5s}
requests: [{path: /run}]
steps: [{users: 4, requestsPerUser: 25}]
worker: {resources: {requests: {cpu: 20m, memory: 32Mi}}}
`
)

func keyOf(o client.Object) client.ObjectKey { return client.ObjectKeyFromObject(o) }

// installsForOneNamespace installs a release of another name, in a namespace of its own, that
// runs the LoadTests of one namespace. The operator that runs those of all rests meanwhile.
func installsForOneNamespace(t *testing.T) string {
	const release, account = "perf", "perf-loadtest-operator"
	home, watched, other := namespace(t), namespace(t), namespace(t)
	restOperator(t)
	t.Cleanup(func() {
		if _, err := command(context.Background(), "helm", "uninstall", release, "--namespace", home, "--wait"); err != nil {
			t.Error(err)
		}
		left, err := command(context.Background(), "kubectl", "get", "-A", "-o", "name", "-l", "app.kubernetes.io/instance="+release,
			"clusterroles,clusterrolebindings,roles,rolebindings,validatingadmissionpolicies,validatingadmissionpolicybindings,deployments,services")
		if err != nil || left != "" {
			t.Errorf("helm uninstall left behind %s %v", left, err)
		}
	})
	mustCommand(t, "helm", append([]string{
		"install", release, operatorChart, "--namespace", home, "--wait", "--timeout", waitTimeout.String(),
		"--set", "watchNamespaces={" + watched + "}", "--set", fmt.Sprintf("networkPolicy.enabled=%t", enforced()),
	}, imageValues()...)...)

	targets := map[string]counter{}
	for _, ns := range []string{watched, other} {
		target, err := startCounter(t.Context(), ns, "")
		if err != nil {
			t.Fatal(err)
		}
		targets[ns] = target
	}
	ignored := create(t, other, "run", shortRun)
	lt := create(t, watched, "run", shortRun)
	finish(t, lt, waitTimeout)
	seen := exactly(t, lt, targets[watched], shortRunSends)

	if err := cluster.Get(t.Context(), keyOf(ignored), ignored); err != nil {
		t.Fatal(err)
	}
	counts, err := targets[other].read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	jobs := mustCommand(t, "kubectl", "-n", other, "get", "jobs,configmaps", "-l", "loadtest.dev/run", "-o", "name")
	if ignored.Status.ObservedGeneration > 0 || len(ignored.Status.Conditions) > 0 || counts["run"].Received > 0 || jobs != "" {
		t.Errorf("another namespace is touched: %+v, %d requests, %s", ignored.Status, counts["run"].Received, jobs)
	}
	// The operator that rests would run it.
	if err := cluster.Delete(t.Context(), ignored); err != nil {
		t.Fatal(err)
	}
	checkNamespacedRights(t, "system:serviceaccount:"+home+":"+account, watched, other)
	passesHelmTest(t, release, home)
	return seen + "; outside nothing was touched, and no right is there"
}

// checkNamespacedRights asks the API server what the account may do.
func checkNamespacedRights(t *testing.T, account, watched, other string) {
	t.Helper()
	for _, right := range []struct {
		what, namespace, want string
	}{
		{"create jobs.batch", watched, "yes"},
		{"watch loadtests.loadtest.dev", watched, "yes"},
		{"patch loadtests.loadtest.dev --subresource=status", watched, "yes"},
		{"get secrets", watched, "no"},
		{"create pods", watched, "no"},
		{"create jobs.batch", other, "no"},
		{"watch loadtests.loadtest.dev", other, "no"},
		{"patch loadtests.loadtest.dev --subresource=status", other, "no"},
		{"list pods", other, "no"},
		{"create configmaps", other, "no"},
	} {
		args := append([]string{"auth", "can-i"}, strings.Fields(right.what)...)
		// It ends with 1 for no.
		out, _ := command(t.Context(), "kubectl", append(args, "--namespace", right.namespace, "--as", account)...)
		if got := strings.TrimSpace(out); got != right.want {
			t.Errorf("may it %s in %s? %q, want %s", right.what, right.namespace, got, right.want)
		}
	}
}

// restOperator ends the replicas of the operator that runs the LoadTests of all namespaces,
// until the test is over.
func restOperator(t *testing.T) {
	t.Helper()
	scale := func(ctx context.Context, replicas int) error {
		if _, err := command(ctx, "kubectl", "-n", operatorNamespace, "scale", "deploy/loadtest-operator", fmt.Sprintf("--replicas=%d", replicas)); err != nil {
			return err
		}
		_, err := command(ctx, "kubectl", "-n", operatorNamespace, "rollout", "status", "deploy/loadtest-operator", "--timeout="+waitTimeout.String())
		return err
	}
	t.Cleanup(func() {
		if err := scale(context.Background(), 2); err != nil {
			t.Error(err)
		}
	})
	if err := scale(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	mustCommand(t, "kubectl", "-n", operatorNamespace, "wait", "--for=delete", "pod", "-l", "app.kubernetes.io/name=loadtest-operator", "--timeout="+waitTimeout.String())
}
