package deploy

import (
	"context"
	"time"
)

// InstallOperator installs or upgrades the operator within a limit.
func (t Tools) InstallOperator(ctx context.Context, c Cluster, limit time.Duration) error {
	// Helm installs the CRDs of a chart, but does not update them.
	if err := t.Quiet(ctx, "kubectl", "apply", "--server-side", "--force-conflicts", "--filename", OperatorChart+"/crds"); err != nil {
		return err
	}
	return t.Install(ctx, "loadtest-operator", OperatorChart, OperatorNamespace, limit, c.Operator...)
}

// Install installs or upgrades a release and waits until its pods are ready. Helm
// reports what was not ready within the limit, which is shorter than that of ctx.
func (t Tools) Install(ctx context.Context, release, chart, namespace string, limit time.Duration, args ...string) error {
	again := command(ctx, "helm", "status", release, "--namespace", namespace).Run() == nil
	args = append([]string{"upgrade", "--install", release, chart, "--namespace", namespace, "--create-namespace"}, args...)
	if err := t.waitFor(ctx, namespace, "helm", append(args, "--wait", "--timeout", limit.String())...); err != nil {
		return err
	}
	if again {
		// The images may have been built anew under the same name.
		if err := t.Quiet(ctx, "kubectl", "rollout", "restart", "deployment", "--namespace", namespace); err != nil {
			return err
		}
	}
	var list struct {
		Items []struct{ Metadata struct{ Name string } }
	}
	if err := t.Get(ctx, &list, "deployments", "--namespace", namespace); err != nil {
		return err
	}
	for _, deployment := range list.Items {
		if err := t.waitFor(ctx, namespace, "kubectl", "rollout", "status", "deployment/"+deployment.Metadata.Name, "--namespace", namespace); err != nil {
			return err
		}
	}
	return t.Run(ctx, "kubectl", "get", "deployments", "--namespace", namespace)
}

// waitFor runs a command that waits for pods, and shows the cause when it fails.
func (t Tools) waitFor(ctx context.Context, namespace, name string, args ...string) error {
	err := t.Quiet(ctx, name, args...)
	if err != nil {
		t.Diagnose(ctx, namespace)
	}
	return err
}
