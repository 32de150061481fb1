//go:build e2e

package ecosystem

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

const operatorChart = "../../../charts/loadtest-operator"

// longRun takes more than a minute, however fast the machine is: its users wait for each
// response. Both an upgrade and a rollback end while it lasts.
const (
	longRunSends = 2400
	longRun      = `
target: {service: {name: counter}, timeout: 5s}
requests: [{name: run, http: {path: "/run?delay=120ms"}}]
steps: [{name: 4 users x 600, users: 4, requestsPerUser: 600}]
worker: {resources: {requests: {cpu: 20m, memory: 32Mi}}}
`
)

// checkChart has Helm do with the chart what people do with charts.
func checkChart(t *testing.T, e *ecosystem) {
	c := component{e, "Helm"}
	c.check(t, "helm test passes", func(t *testing.T) string { return passesHelmTest(t, "loadtest-operator", cluster.OperatorNamespace) })
	c.check(t, "a run goes on through helm upgrade and helm rollback", runsThroughUpgrade)
	c.check(t, "a run goes on from the version before, whose operator and worker work with these", worksWithThePrevious)
	c.check(t, "an upgrade without its CRDs stops, and goes on when they are there", stopsAtOlderCRDs)
	c.check(t, "an install for one namespace", installsForOneNamespace)
	c.check(t, "make push, and helm pull from a registry", pushesAndPulls)
}

// imageValues are Helm's arguments that name the images under test.
func imageValues() []string {
	return []string{
		"--set", "image.repository=" + cluster.Image("operator"), "--set", "image.tag=" + cluster.ImageTag(),
		"--set", "workerImage.repository=" + cluster.Image("worker"), "--set", "workerImage.tag=" + cluster.ImageTag(),
	}
}

// passesHelmTest runs the chart's own test of a release.
func passesHelmTest(t *testing.T, release, namespace string) string {
	t.Helper()
	cluster.MustCommand(t, "helm", "test", release, "--namespace", namespace, "--timeout", cluster.Patience.String())
	pods := cluster.MustCommand(t, "kubectl", "-n", namespace, "logs", "-l", "app.kubernetes.io/name=loadtest-operator-test")
	if n := strings.Count(pods, "ok: "); n != 4 {
		t.Errorf("%d checks, want 4:\n%s", n, pods)
	}
	left := cluster.MustCommand(t, "kubectl", "-n", namespace, "get", "serviceaccounts,roles,rolebindings,networkpolicies", "-o", "name")
	if strings.Contains(left, "-test\n") {
		t.Errorf("it left behind %s", left)
	}
	return "4 checks, and it left nothing behind but its pod"
}

// earlier is the chart as an earlier version of it, with other defaults.
func earlier(t *testing.T) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "loadtest-operator")
	must.Succeed(t, os.CopyFS(folder, os.DirFS(operatorChart)))
	for file, change := range map[string]*strings.Replacer{
		"Chart.yaml":  strings.NewReplacer("\nversion: 0.1.0", "\nversion: 0.0.9"),
		"values.yaml": strings.NewReplacer("maxLoadTests: 300", "maxLoadTests: 200"),
	} {
		before := must.ReadFile(t, filepath.Join(folder, file))
		after := change.Replace(string(before))
		if after == string(before) {
			t.Fatalf("%s is not changed", file)
		}
		must.Succeed(t, os.WriteFile(filepath.Join(folder, file), []byte(after), 0o600))
	}
	return folder
}

// inOperator runs helm for the release under test.
func inOperator(t *testing.T, command string, args ...string) {
	t.Helper()
	cluster.MustCommand(t, "helm", append([]string{command, "loadtest-operator", "--namespace", cluster.OperatorNamespace, "--timeout", cluster.Patience.String()}, args...)...)
}

// keepRelease goes back to the revision of now when the test is over.
func keepRelease(t *testing.T) {
	t.Helper()
	var revisions []struct{ Revision int }
	must.Succeed(t, json.Unmarshal([]byte(cluster.MustCommand(t, "helm", "history", "loadtest-operator", "--namespace", cluster.OperatorNamespace, "--max", "1", "--output", "json")), &revisions))
	t.Cleanup(func() {
		if _, err := cluster.Command(context.Background(), "helm", "rollback", "loadtest-operator", fmt.Sprint(revisions[0].Revision),
			"--namespace", cluster.OperatorNamespace, "--wait", "--timeout", cluster.Patience.String()); err != nil {
			t.Error(err)
		}
	})
}

// runsThroughUpgrade upgrades an earlier release in the middle of a run, and takes that back.
func runsThroughUpgrade(t *testing.T) string {
	keepRelease(t)
	inOperator(t, "upgrade", earlier(t), "--reset-then-reuse-values", "--wait")
	target, err := cluster.StartCounter(t.Context(), cluster.Namespace(t), "")
	must.Succeed(t, err)
	lt := cluster.Create(t, target.Namespace, "run", longRun)
	cluster.Until(t, lt, "sending", cluster.Sending)
	first := cluster.AwaitLeader(t, "").Name
	inOperator(t, "upgrade", operatorChart, "--reset-then-reuse-values", "--wait")
	second := cluster.AwaitLeader(t, "").Name
	inOperator(t, "rollback", "--wait")
	third := cluster.AwaitLeader(t, "").Name
	if first == second || second == third {
		t.Errorf("leaders are %s, %s and %s", first, second, third)
	}
	must.Succeed(t, cluster.API.Get(t.Context(), keyOf(lt), lt))
	if lt.Status.Verdict != "" {
		t.Errorf("it ended before the rollback did")
	}
	cluster.Finish(t, lt)
	return exactly(t, lt, target, longRunSends)
}

// exactly checks that a run has passed, with as many requests as the target counted.
func exactly(t *testing.T, lt *v1beta1.LoadTest, target cluster.Counter, sends int64) string {
	t.Helper()
	counts, err := target.Read(t.Context())
	must.Succeed(t, err)
	s, received := lt.Status.Steps[0].Result, counts["run"].Received
	if lt.Status.Verdict != v1beta1.VerdictPassed || s == nil || s.Sent != sends || s.Expected != sends || received != sends {
		status, _ := yaml.Marshal(lt.Status)
		t.Errorf("verdict %s, %d received, want Passed and %d\n%s", lt.Status.Verdict, received, sends, status)
	}
	return fmt.Sprintf("%s, %d of %d requests received", lt.Status.Verdict, received, sends)
}

// stopsAtOlderCRDs takes a field out of a CRD, and upgrades.
func stopsAtOlderCRDs(t *testing.T) string {
	const name = "loadtestschedules.loadtest.dev"
	restore := func(ctx context.Context) error {
		// As the chart's README says.
		definitions, err := cluster.Command(ctx, "helm", "show", "crds", operatorChart)
		if err != nil {
			return err
		}
		return pipe(ctx, []byte(definitions), "apply", "--server-side", "--force-conflicts", "--filename", "-")
	}
	keepRelease(t)
	t.Cleanup(func() {
		if err := restore(context.Background()); err != nil {
			t.Error(err)
		}
	})
	cluster.MustCommand(t, "kubectl", "patch", "customresourcedefinition", name, "--type=json",
		"--patch", `[{"op": "remove", "path": "/spec/versions/0/schema/openAPIV3Schema/properties/status/properties/missedRuns"}]`)
	before := cluster.AwaitLeader(t, "").Name
	inOperator(t, "upgrade", operatorChart, "--reset-then-reuse-values", "--set", "metrics.maxLoadTests=299")
	const want = "older than this operator: they lack LoadTestSchedule.status.missedRuns, which"
	cluster.Soon(t, func(ctx context.Context) error {
		log, err := cluster.Command(ctx, "kubectl", "-n", cluster.OperatorNamespace, "logs", "-l", "app.kubernetes.io/name=loadtest-operator", "--tail=20")
		if err == nil && !strings.Contains(log, want) {
			err = fmt.Errorf("no replica says %q: %s", want, log)
		}
		return err
	})
	if out, err := cluster.Command(t.Context(), "kubectl", "-n", cluster.OperatorNamespace, "rollout", "status", "deploy/loadtest-operator", "--timeout=8s"); err == nil {
		t.Errorf("the rollout went on: %s", out)
	}
	if after := cluster.AwaitLeader(t, "").Name; after != before {
		t.Errorf("%s leads, want %s still", after, before)
	}
	must.Succeed(t, restore(t.Context()))
	cluster.MustCommand(t, "kubectl", "-n", cluster.OperatorNamespace, "rollout", "status", "deploy/loadtest-operator", "--timeout="+cluster.Patience.String())
	if after := cluster.AwaitLeader(t, "").Name; after == before {
		t.Errorf("%s leads still", after)
	}
	return want + " …; the replicas of before led on"
}

// makePush is what a person types to publish a release.
func makePush(ctx context.Context, registry, version string, variables ...string) (string, error) {
	push := exec.CommandContext(ctx, "make", append([]string{"push", "REGISTRY=" + registry, "VERSION=" + version}, variables...)...)
	push.Dir = "../../.."
	out, err := push.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("make push: %w\n%s", err, out)
	}
	return string(out), nil
}
