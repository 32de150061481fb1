package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
)

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "operator:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if err := cluster.Connect(); err != nil {
		return err
	}
	switch {
	case len(args) == 1 && args[0] == "install":
		since, err := install(ctx)
		if err == nil {
			fmt.Println(since.UTC().Format(time.RFC3339Nano))
		}
		return err
	case len(args) == 2 && args[0] == "rights":
		since, err := time.Parse(time.RFC3339Nano, args[1])
		if err != nil {
			return err
		}
		return compareRights(ctx, since)
	}
	return fmt.Errorf("usage: operator install | rights INSTANT")
}

// install installs or upgrades the operator.
func install(ctx context.Context) (since time.Time, err error) {
	// Helm installs the CRDs of a chart, and never upgrades them.
	if _, err := cluster.Command(ctx, "kubectl", "apply", "--server-side", "--force-conflicts", "-f", "charts/loadtest-operator/crds"); err != nil {
		return since, err
	}
	_, err = cluster.Command(ctx, "helm", "upgrade", "--install", "loadtest-operator", "charts/loadtest-operator",
		"--namespace", cluster.OperatorNamespace, "--create-namespace",
		"--values", "charts/loadtest-operator/values-local.yaml", "--values", "test/e2e/operator/values.yaml",
		"--set", "image.repository="+cluster.Image("operator"), "--set", "image.tag="+cluster.ImageTag(),
		"--set", "workerImage.repository="+cluster.Image("worker"), "--set", "workerImage.tag="+cluster.ImageTag(),
		"--set", fmt.Sprintf("networkPolicy.enabled=%t", cluster.Enforced()),
		"--wait", "--timeout", cluster.Patience.String())
	if err != nil {
		return since, err
	}
	if cluster.IsFull() && cluster.Enforced() {
		if since, err = renewOwn(ctx); err != nil {
			return since, err
		}
	}
	// The images of a tag that moves are new even when the chart is not.
	if _, err := cluster.Command(ctx, "kubectl", "-n", cluster.OperatorNamespace, "rollout", "restart", "deploy/loadtest-operator"); err != nil {
		return since, err
	}
	_, err = cluster.Command(ctx, "kubectl", "-n", cluster.OperatorNamespace, "rollout", "status", "deploy/loadtest-operator", "--timeout="+cluster.Patience.String())
	if since.IsZero() {
		since = time.Now()
	}
	return since, err
}
