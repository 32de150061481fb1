//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"
)

const operatorNamespace = "loadtest-system"

// waitTimeout is how long anything may take to come up on two busy cores.
const waitTimeout = 3 * time.Minute

func TestMain(m *testing.M) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	since, err := install(ctx)
	if err != nil {
		fmt.Fprintln(os.Stderr, "install:", err)
		os.Exit(1)
	}
	code := suites.run(m.Run)
	if err := compareRights(context.Background(), since); err != nil {
		fmt.Fprintln(os.Stderr, "rbac:", err)
		fmt.Fprintln(os.Stderr, "retest: never") // one test alone does not use all rights
		code = max(code, 1)
	}
	os.Exit(code)
}

// install puts the operator into the cluster, as a user does. From that instant on, only
// what was installed runs.
func install(ctx context.Context) (since time.Time, err error) {
	if err := connect(); err != nil {
		return since, err
	}
	// Helm installs the CRDs of a chart, and never upgrades them.
	if _, err := command(ctx, "kubectl", "apply", "--server-side", "--force-conflicts", "-f", "../../charts/loadtest-operator/crds"); err != nil {
		return since, err
	}
	_, err = command(ctx, "helm", "upgrade", "--install", "loadtest-operator", "../../charts/loadtest-operator",
		"--namespace", operatorNamespace, "--create-namespace",
		"--values", "../../charts/loadtest-operator/values-local.yaml", "--values", "operator.yaml",
		"--set", "image.repository="+image("operator"), "--set", "image.tag="+imageTag(),
		"--set", "workerImage.repository="+image("worker"), "--set", "workerImage.tag="+imageTag(),
		"--set", fmt.Sprintf("networkPolicy.enabled=%t", enforced()),
		"--wait", "--timeout", waitTimeout.String())
	if err != nil {
		return since, err
	}
	if isWhole() && enforced() {
		if since, err = renewOwn(ctx); err != nil {
			return since, err
		}
	}
	// The images of a tag that moves are new even when the chart is not.
	if _, err := command(ctx, "kubectl", "-n", operatorNamespace, "rollout", "restart", "deploy/loadtest-operator"); err != nil {
		return since, err
	}
	_, err = command(ctx, "kubectl", "-n", operatorNamespace, "rollout", "status", "deploy/loadtest-operator", "--timeout="+waitTimeout.String())
	if since.IsZero() {
		since = time.Now()
	}
	return since, err
}

func image(name string) string { return env("IMAGE_REGISTRY", "loadtest.dev") + "/" + name }
func imageTag() string         { return env("IMAGE_TAG", "dev") }

// limiter installs the rate limiter into a namespace of its own.
func limiter(t *testing.T, set ...string) (ns string) {
	t.Helper()
	ns = namespace(t)
	args := []string{"install", "limiter", "../../charts/targets", "--namespace", ns, "--wait", "--timeout", waitTimeout.String(),
		"--set", "ratelimiter.image.repository=" + image("ratelimiter"), "--set", "ratelimiter.image.tag=" + imageTag(),
		"--set", fmt.Sprintf("networkPolicy.enabled=%t", enforced())}
	if env("CLUSTER", "local") == "local" {
		args = append(args, "--values", "../../charts/targets/values-local.yaml")
	}
	for _, s := range set {
		args = append(args, "--set", s)
	}
	mustCommand(t, "helm", args...)
	return ns
}
