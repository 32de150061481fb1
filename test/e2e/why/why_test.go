//go:build e2e

package why

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

func TestMain(m *testing.M) { cluster.Main(m) }

// TestWhy has the operator say what was at its limit, and prints a line for each case and the summary
// last.
func TestWhy(t *testing.T) {
	if flag.Lookup("test.run").Value.String() == "" {
		t.Skip("the components are built by make e2e SUITE=why")
	}
	s := &scores{}
	t.Cleanup(func() { fmt.Printf("why: %d checks, %d failed\n", s.All(), s.Count(failed)) })
	installMetricsServer(t)
	ns := installShortener(t, "200m")
	databaseOf := installShortener(t, "1")
	installPrometheus(t, databaseOf)
	configureOperator(t, databaseOf)
	t.Run("processors", func(t *testing.T) {
		s.check(t, "a target at its limit of processors", ns, follow, `^Kept up to [0-9]+/s; from there shortener's CPU is at its limit of 200m\.$`)
	})
	t.Run("database", func(t *testing.T) {
		slowDatabase(t, databaseOf)
		lt := s.check(t, "a target that waits for its database", databaseOf, create,
			`^Kept up to [0-9]+/s; from there "database connections" is at [4-7](\.[0-9]+)? of 5, while shortener's CPU is at most [0-9]+% of its limit of 1\.$`)
		if state := lt.Status.Thresholds[1].State; state != v1beta1.ThresholdPassed {
			t.Errorf("the threshold on the query is %s: %s", state, lt.Status.Thresholds[1].Message)
		}
	})
}

const passed, failed = "passed", "failed"

// scores counts the cases.
type scores struct{ cluster.Scores }

// follow reads links, of which 200m serve some hundred a second; create stores them, of which the slow
// database takes 50 a second. The last load of each is far beyond that, the others well below.
const (
	follow = `
target: {service: {name: shortener}}
requests:
  - {name: create, weight: 0, http: {method: POST, path: /urls, headers: [{name: Content-Type, value: application/json}], body: '{"url":"https://example.com/${worker}/${seq}"}'}, expect: {status: [201]}}
  - {name: follow, weight: 1, http: {path: '/${code}'}, expect: {status: [302]}}
setup: {fill: {request: create, count: 50, capture: {code: .code}}}
ladder: {rates: ["50", "100", "400", "2400"], duration: 30s, rest: 2s, stopOnBreach: true}
thresholds: [{metric: p95, max: 500ms}]
`
	create = `
target: {service: {name: shortener}}
requests: [{name: create, http: {method: POST, path: /urls, headers: [{name: Content-Type, value: application/json}], body: '{"url":"https://example.com/${worker}/${seq}"}'}, expect: {status: [201]}}]
ladder: {rates: ["5", "10", "20", "80"], duration: 30s, rest: 2s, stopOnBreach: true}
thresholds: [{metric: p95, max: 500ms}, {metric: Query, query: database connections, max: 100}]
`
)

// check carries a ladder out, and compares what is said of its limit.
func (s *scores) check(t *testing.T, what, namespace, spec, want string) *v1beta1.LoadTest {
	t.Helper()
	outcome, seen := failed, "nothing"
	defer func() {
		s.Note(outcome, "%s: %s: %s", map[string]string{passed: "ok", failed: "FAILED"}[outcome], what, seen)
	}()
	lt := cluster.Create(t, namespace, "ladder", spec)
	cluster.Finish(t, lt)
	if seen = lt.Status.Why; !regexp.MustCompile(want).MatchString(seen) {
		t.Fatalf("it says %q, want %s\n%s", seen, want, told(lt))
	}
	outcome = passed
	return lt
}

// told is what each step says of the target's usage and of the queries.
func told(lt *v1beta1.LoadTest) string {
	var b strings.Builder
	for i := range lt.Status.Steps {
		step := &lt.Status.Steps[i]
		if step.Result == nil {
			continue
		}
		fmt.Fprintf(&b, "step %s, %s:", step.Name, step.ThresholdState)
		if step.Environment != nil && step.Environment.Usage != nil {
			fmt.Fprintf(&b, " usage %+v", *step.Environment.Usage)
		}
		fmt.Fprintf(&b, " queries %+v\n", step.Queries)
	}
	return b.String()
}

// apply applies a file in which words are replaced, in a namespace or, without one, in those that it
// names.
func apply(t *testing.T, file, namespace string, words ...string) {
	t.Helper()
	manifest := must.ReadFile(t, file)
	args := []string{"apply", "--server-side", "-f", "-"}
	if namespace != "" {
		args = append(args, "-n", namespace)
	}
	command := exec.CommandContext(t.Context(), "kubectl", args...)
	command.Stdin = strings.NewReader(strings.NewReplacer(words...).Replace(string(manifest)))
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("apply %s: %v\n%s", file, err, out)
	}
}

// installMetricsServer has the cluster serve the resource metrics API, until the test ends.
func installMetricsServer(t *testing.T) {
	t.Helper()
	namespace := cluster.Namespace(t)
	t.Cleanup(func() {
		for _, object := range []string{
			"apiservice/v1beta1.metrics.k8s.io", "clusterrole/" + namespace + "-metrics-server",
			"clusterrolebinding/" + namespace + "-metrics-server", "clusterrolebinding/" + namespace + "-metrics-server-delegator",
		} {
			if _, err := cluster.Command(context.Background(), "kubectl", "delete", "--ignore-not-found", object); err != nil {
				t.Error(err)
			}
		}
		if _, err := cluster.Command(context.Background(), "kubectl", "-n", "kube-system", "delete", "--ignore-not-found", "rolebinding", namespace+"-metrics-server"); err != nil {
			t.Error(err)
		}
	})
	apply(t, "metrics-server.yaml", "", "NAMESPACE", namespace, "IMAGE", cluster.Image("metrics-server")+":"+cluster.ImageTag())
	cluster.MustCommand(t, "kubectl", "wait", "--for=condition=Available", "apiservice/v1beta1.metrics.k8s.io", "--timeout="+cluster.Patience.String())
}

// installShortener installs one with a limit of processors, memory for all requests that it cannot answer
// in time, and five connections to its database, and waits until its use is known.
func installShortener(t *testing.T, limit string) (ns string) {
	t.Helper()
	ns = cluster.Namespace(t)
	args := []string{"install", "target", cluster.TargetsChart, "--namespace", ns, "--wait", "--timeout", cluster.Patience.String()}
	if cluster.Env("CLUSTER", "local") == "local" {
		args = append(args, "--values", cluster.TargetsChart+"/values-local.yaml")
	}
	cluster.MustCommand(t, "helm", append(args, "--set", "ratelimiter.enabled=false,shortener.enabled=true,shortener.poolSize=5,postgres.persistence.enabled=false,"+
		"exporters.postgres.enabled=true,networkPolicy.enabled=false,shortener.resources.limits.memory=2Gi,shortener.resources.limits.cpu="+limit,
		"--set", "shortener.image.repository="+cluster.Image("shortener")+",shortener.image.tag="+cluster.ImageTag())...)
	cluster.Soon(t, func(ctx context.Context) error {
		out, err := cluster.Command(ctx, "kubectl", "get", "--raw", "/apis/metrics.k8s.io/v1beta1/namespaces/"+ns+"/pods")
		if err == nil && !strings.Contains(out, `"name":"shortener"`) {
			err = errors.New("the use of the shortener is not known yet")
		}
		return err
	})
	return ns
}

// installPrometheus has a Prometheus read the database of a namespace.
func installPrometheus(t *testing.T, ns string) {
	t.Helper()
	var pods corev1.PodList
	must.Succeed(t, cluster.API.List(t.Context(), &pods, client.InNamespace(ns)))
	address := ""
	for i := range pods.Items {
		if strings.Contains(pods.Items[i].Name, "postgres-exporter") {
			address = pods.Items[i].Status.PodIP + ":8080"
		}
	}
	if address == "" {
		t.Fatal("there is no exporter of the database")
	}
	apply(t, "prometheus.yaml", ns, "NAMESPACE", ns, "ADDRESS", address, "IMAGE", cluster.Image("prometheus")+":"+cluster.ImageTag())
	cluster.MustCommand(t, "kubectl", "-n", ns, "rollout", "status", "deployment/prometheus", "--timeout="+cluster.Patience.String())
}

// connections are those that do something in the database, in the median, without one that counts
// them.
const connections = `quantile_over_time(0.5, sum(pg_stat_activity_count{namespace="$namespace",datname="shortener",state="active"})[$window:2s]) - 1`

// configureOperator lets the operator read what pods use, and has it ask that Prometheus, until the
// test ends. The right stays: what the operator did is compared with what it may do.
func configureOperator(t *testing.T, ns string) {
	t.Helper()
	folder := t.TempDir()
	before, more := filepath.Join(folder, "before.yaml"), filepath.Join(folder, "more.yaml")
	values := cluster.MustCommand(t, "helm", "get", "values", "loadtest-operator", "--namespace", cluster.OperatorNamespace, "--output", "yaml")
	must.Succeed(t, os.WriteFile(before, []byte(values), 0o600))
	must.Succeed(t, os.WriteFile(more, fmt.Appendf(nil, `
config:
  prometheus:
    url: http://prometheus.%s.svc:9090
    queries: [{name: database connections, namespaces: [%s], limit: 5, expression: '%s'}]
`, ns, ns, connections), 0o600))
	upgrade := []string{"upgrade", "loadtest-operator", "../../../charts/loadtest-operator", "--namespace", cluster.OperatorNamespace,
		"--set", "environment.usage=true", "--values", before, "--wait", "--timeout", cluster.Patience.String()}
	t.Cleanup(func() {
		if _, err := cluster.Command(context.Background(), "helm", upgrade...); err != nil {
			t.Error(err)
		}
	})
	cluster.MustCommand(t, "helm", append(upgrade, "--values", more)...)
	must.Succeed(t, cluster.AwaitOperator(t.Context()))
}

// slowDatabase has each link take 100 ms to store, so that five connections store 50 a second.
func slowDatabase(t *testing.T, ns string) {
	t.Helper()
	var secrets corev1.SecretList
	must.Succeed(t, cluster.API.List(t.Context(), &secrets, client.InNamespace(ns)))
	password := ""
	for i := range secrets.Items {
		password += string(secrets.Items[i].Data["postgres-password"])
	}
	address := cluster.ForwardIn(t, ns, "pod/shortener-postgres-0", "5432")
	db, err := pgx.Connect(t.Context(), fmt.Sprintf("postgres://shortener:%s@%s/shortener?sslmode=disable", password, address))
	must.Succeed(t, err)
	_, err = db.Exec(t.Context(), `
CREATE OR REPLACE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(0.1); RETURN NEW; END $$;
CREATE OR REPLACE TRIGGER slow BEFORE INSERT ON links FOR EACH ROW EXECUTE FUNCTION slow();`)
	must.Succeed(t, err)
	must.Succeed(t, db.Close(t.Context()))
}
