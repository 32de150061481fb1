//go:build e2e

package ecosystem

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

const argoCDNamespace = "argocd"

// installArgoCD puts Argo CD into the cluster from its own manifest, without its API server,
// and merges into its ConfigMap what we ship. It goes away with the test.
func installArgoCD(t *testing.T) {
	t.Helper()
	module := strings.TrimSpace(cluster.MustCommand(t, "go", "-C", "../../../hack/components/argocd", "list", "-m", "-f", "{{.Dir}}", "github.com/argoproj/argo-cd/v3"))
	manifest := must.ReadFile(t, filepath.Join(module, "manifests", "core-install.yaml"))
	ours := must.ReadFile(t, "argocd/install.yaml")
	argo, redis := cluster.Image("argocd")+":"+cluster.ImageTag(), cluster.Image("redis")+":"+cluster.ImageTag()
	manifest = []byte(strings.NewReplacer(
		"quay.io/argoproj/argocd:v3.2.1", argo, "public.ecr.aws/docker/library/redis:8.2.2-alpine", redis,
		"imagePullPolicy: Always", "imagePullPolicy: IfNotPresent",
	).Replace(string(manifest)))
	t.Cleanup(func() { uninstallArgoCD(t, manifest) })
	cluster.MustCommand(t, "kubectl", "create", "namespace", argoCDNamespace)
	apply(t, manifest)
	cluster.MustCommand(t, "kubectl", "-n", argoCDNamespace, "set", "env", "deployment/argocd-repo-server", "ARGOCD_GPG_ENABLED=false") // the image has none
	cluster.MustCommand(t, "kubectl", "apply", "--server-side", "--force-conflicts", "-k", "../../../config/argocd")
	apply(t, []byte(strings.ReplaceAll(string(ours), "ARGOCD", argo)))
	for _, part := range []string{"deployment/argocd-redis", "deployment/argocd-repo-server", "deployment/argocd-applicationset-controller", "statefulset/argocd-application-controller"} {
		cluster.MustCommand(t, "kubectl", "-n", argoCDNamespace, "rollout", "status", part, "--timeout="+cluster.Patience.String())
	}
	cluster.MustCommand(t, "kubectl", "-n", argoCDNamespace, "wait", "--for=condition=Ready", "pod/git", "--timeout="+cluster.Patience.String())
}

// uninstallArgoCD removes all of it. Applications go first, with what they created.
func uninstallArgoCD(t *testing.T, manifest []byte) {
	ctx, cancel := context.WithTimeout(context.Background(), cluster.Patience)
	defer cancel()
	if t.Failed() {
		for _, args := range [][]string{
			{"get", "applications,applicationsets,pods", "-n", argoCDNamespace, "-o", "wide"},
			{"get", "applications", "-n", argoCDNamespace, "-o", "jsonpath={range .items[*]}{.metadata.name}: {.status.operationState.phase} {.status.operationState.message} {.status.conditions}{'\\n'}{end}"},
			{"logs", "-n", argoCDNamespace, "statefulset/argocd-application-controller", "--tail=40"},
			{"logs", "-n", argoCDNamespace, "deployment/argocd-repo-server", "--tail=20"},
		} {
			out, err := cluster.Command(ctx, "kubectl", args...)
			t.Logf("kubectl %s (%v)\n%s", strings.Join(args, " "), err, out)
		}
	}
	_, first := cluster.Command(ctx, "kubectl", "delete", "applicationsets,applications", "--all", "-n", argoCDNamespace, "--wait=false")
	err := pipe(ctx, manifest, "delete", "-n", argoCDNamespace, "--ignore-not-found", "--wait=false", "-f", "-")
	_, last := cluster.Command(ctx, "kubectl", "delete", "namespace", argoCDNamespace, "--wait=false")
	for _, err := range []error{first, err, last} {
		if err != nil {
			t.Error(err)
		}
	}
}

// apply applies manifests, those without a namespace into Argo CD's.
func apply(t *testing.T, manifest []byte) {
	t.Helper()
	must.Succeed(t, pipe(t.Context(), manifest, "apply", "--server-side", "--force-conflicts", "-n", argoCDNamespace, "-f", "-"))
}

// pipe runs kubectl with that input.
func pipe(ctx context.Context, input []byte, args ...string) error {
	cmd := exec.CommandContext(ctx, "kubectl", args...)
	cmd.Stdin = strings.NewReader(string(input))
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("kubectl %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}
