//go:build e2e

package ecosystem

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

const (
	shortRunSends = 100
	shortRun      = `
target: {service: {name: counter}, timeout: 5s}
requests: [{name: run, http: {path: /run}}]
steps: [{name: 4 users x 25, users: 4, requestsPerUser: 25}]
worker: {resources: {requests: {cpu: 20m, memory: 32Mi}}}
`
)

func keyOf(o client.Object) client.ObjectKey { return client.ObjectKeyFromObject(o) }

// installsForOneNamespace installs a release of another name, in a namespace of its own, that
// runs the LoadTests of one namespace. The operator that runs those of all rests meanwhile.
func installsForOneNamespace(t *testing.T) string {
	const release, account = "perf", "perf-loadtest-operator"
	home, watched, other := cluster.Namespace(t), cluster.Namespace(t), cluster.Namespace(t)
	restOperator(t)
	t.Cleanup(func() {
		if _, err := cluster.Command(context.Background(), "helm", "uninstall", release, "--namespace", home, "--wait"); err != nil {
			t.Error(err)
		}
		left, err := cluster.Command(context.Background(), "kubectl", "get", "-A", "-o", "name", "-l", "app.kubernetes.io/instance="+release,
			"clusterroles,clusterrolebindings,roles,rolebindings,validatingadmissionpolicies,validatingadmissionpolicybindings,deployments,services")
		if err != nil || left != "" {
			t.Errorf("helm uninstall left behind %s %v", left, err)
		}
	})
	cluster.MustCommand(t, "helm", append([]string{
		"install", release, operatorChart, "--namespace", home, "--wait", "--timeout", cluster.Patience.String(),
		"--set", "watchNamespaces={" + watched + "}", "--set", fmt.Sprintf("networkPolicy.enabled=%t", cluster.Enforced()),
	}, imageValues()...)...)

	targets := map[string]cluster.Counter{}
	for _, ns := range []string{watched, other} {
		target, err := cluster.StartCounter(t.Context(), ns, "")
		must.Succeed(t, err)
		targets[ns] = target
	}
	ignored := cluster.Create(t, other, "run", shortRun)
	lt := cluster.Create(t, watched, "run", shortRun)
	cluster.Finish(t, lt)
	seen := exactly(t, lt, targets[watched], shortRunSends)

	must.Succeed(t, cluster.API.Get(t.Context(), keyOf(ignored), ignored))
	counts, err := targets[other].Read(t.Context())
	must.Succeed(t, err)
	jobs := cluster.MustCommand(t, "kubectl", "-n", other, "get", "jobs,configmaps", "-l", "loadtest.dev/run", "-o", "name")
	if ignored.Status.ObservedGeneration > 0 || len(ignored.Status.Conditions) > 0 || counts["run"].Received > 0 || jobs != "" {
		t.Errorf("another namespace is touched: %+v, %d requests, %s", ignored.Status, counts["run"].Received, jobs)
	}
	// The operator that rests would run it.
	must.Succeed(t, cluster.API.Delete(t.Context(), ignored))
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
		out, _ := cluster.Command(t.Context(), "kubectl", append(args, "--namespace", right.namespace, "--as", account)...)
		same.As(t, fmt.Sprintf("may it %s in %s?", right.what, right.namespace), right.want, strings.TrimSpace(out))
	}
}

// restOperator ends the replicas of the operator that runs the LoadTests of all namespaces,
// until the test is over.
func restOperator(t *testing.T) {
	t.Helper()
	scale := func(ctx context.Context, replicas int) error {
		if _, err := cluster.Command(ctx, "kubectl", "-n", cluster.OperatorNamespace, "scale", "deploy/loadtest-operator", fmt.Sprintf("--replicas=%d", replicas)); err != nil {
			return err
		}
		_, err := cluster.Command(ctx, "kubectl", "-n", cluster.OperatorNamespace, "rollout", "status", "deploy/loadtest-operator", "--timeout="+cluster.Patience.String())
		return err
	}
	t.Cleanup(func() {
		if err := scale(context.Background(), 2); err != nil {
			t.Error(err)
		}
	})
	must.Succeed(t, scale(t.Context(), 0))
	cluster.MustCommand(t, "kubectl", "-n", cluster.OperatorNamespace, "wait", "--for=delete", "pod", "-l", "app.kubernetes.io/name=loadtest-operator", "--timeout="+cluster.Patience.String())
}
