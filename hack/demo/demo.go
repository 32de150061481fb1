package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/hack/demo/outcome"
)

const (
	operatorChart     = "charts/loadtest-operator"
	operatorNamespace = "loadtest-system"
	targetsChart      = "charts/targets"
	scenarios         = "config/samples/seeds/004"
)

// strategies are the variants of the limiter, in the order in which they run:
// the racy one first. Each has the namespace limiter-NAME.
var strategies = []string{"hash", "lua"}

// files are the scenarios in the order of the seed.
var files = []string{"burst.yaml", "clients.yaml", "burst-then-steady.yaml"}

// The bounds on the time of each phase. An installation takes seconds when the
// images are there; a few minutes when they are pulled. A scenario takes at most
// 15 s, and the start of its workers some more.
const (
	installLimit = 4 * time.Minute
	runLimit     = 4 * time.Minute
	lookLimit    = time.Minute
	// helmLimit is shorter than the phase's: Helm then reports itself what was not
	// ready.
	helmLimit = installLimit - 30*time.Second
)

// demo is one go through the phases.
type demo struct {
	tools
	cluster cluster
	results []outcome.Result
}

func (d *demo) phases(ctx context.Context) error {
	if _, err := os.Stat(scenarios); err != nil {
		return fmt.Errorf("%s is not here: run the demo from the root of the repository, by make demo", scenarios)
	}
	if err := d.phase(ctx, "Install the operator", installLimit, d.installOperator); err != nil {
		return err
	}
	for _, strategy := range strategies {
		title := fmt.Sprintf("Install a rate limiter: strategy %s, four replicas behind Nginx, one Redis", strategy)
		if err := d.phase(ctx, title, installLimit, func(ctx context.Context) error { return d.installTarget(ctx, strategy) }); err != nil {
			return err
		}
	}
	for _, strategy := range strategies {
		title := fmt.Sprintf("Run the three scenarios of seed 004 against %s", strategy)
		if err := d.phase(ctx, title, runLimit, func(ctx context.Context) error { return d.runScenarios(ctx, strategy) }); err != nil {
			return err
		}
	}
	if err := d.phase(ctx, "Look at the results", lookLimit, d.look); err != nil {
		return err
	}
	_, _ = fmt.Fprintf(d.out, "\n%s\n%s", outcome.Table(d.results), d.further())
	return nil
}

// phase runs a part of the demo within a limit and says how long it took.
func (d *demo) phase(ctx context.Context, title string, limit time.Duration, do func(context.Context) error) error {
	_, _ = fmt.Fprintf(d.out, "\n==> %s\n", title)
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("not done within %s", limit))
	defer cancel()
	start := time.Now()
	if err := do(ctx); err != nil {
		return err
	}
	_, _ = fmt.Fprintf(d.out, "    done in %s\n", time.Since(start).Round(100*time.Millisecond))
	return nil
}

func (d *demo) installOperator(ctx context.Context) error {
	// Helm installs the CRDs of a chart, but does not update them.
	if err := d.quiet(ctx, "kubectl", "apply", "--server-side", "--force-conflicts", "--filename", operatorChart+"/crds"); err != nil {
		return err
	}
	return d.install(ctx, "loadtest-operator", operatorChart, operatorNamespace, d.cluster.operator)
}

func (d *demo) installTarget(ctx context.Context, strategy string) error {
	preset := fmt.Sprintf("%s/values-seed-004-%s.yaml", targetsChart, strategy)
	args := append([]string{"--values", preset}, d.cluster.targets...)
	return d.install(ctx, "limiter", targetsChart, namespace(strategy), args)
}

func namespace(strategy string) string { return "limiter-" + strategy }

// install installs or upgrades a release and waits until its pods are ready.
func (d *demo) install(ctx context.Context, release, chart, namespace string, args []string) error {
	again := command(ctx, "helm", "status", release, "--namespace", namespace).Run() == nil
	args = append([]string{"upgrade", "--install", release, chart, "--namespace", namespace, "--create-namespace"}, args...)
	if err := d.waitFor(ctx, namespace, "helm", append(args, "--wait", "--timeout", helmLimit.String())...); err != nil {
		return err
	}
	if again {
		// The images may have been built anew under the same name.
		if err := d.quiet(ctx, "kubectl", "rollout", "restart", "deployment", "--namespace", namespace); err != nil {
			return err
		}
	}
	var list struct {
		Items []struct{ Metadata struct{ Name string } }
	}
	if err := d.get(ctx, &list, "deployments", "--namespace", namespace); err != nil {
		return err
	}
	for _, deployment := range list.Items {
		if err := d.waitFor(ctx, namespace, "kubectl", "rollout", "status", "deployment/"+deployment.Metadata.Name, "--namespace", namespace); err != nil {
			return err
		}
	}
	return d.run(ctx, "kubectl", "get", "deployments", "--namespace", namespace)
}

// waitFor runs a command that waits for pods, and shows the cause when it fails.
func (d *demo) waitFor(ctx context.Context, namespace, name string, args ...string) error {
	err := d.quiet(ctx, name, args...)
	if err != nil {
		d.diagnose(ctx, namespace)
	}
	return err
}

func (d *demo) runScenarios(ctx context.Context, strategy string) error {
	ns := namespace(strategy)
	// Of an earlier demo, even of one that was interrupted.
	if err := d.quiet(ctx, "kubectl", "delete", "loadtests", "--all", "--namespace", ns, "--cascade=foreground"); err != nil {
		return err
	}
	args := []string{"loadtest", "run", "--namespace", ns}
	for _, file := range files {
		args = append(args, "--filename", scenarios+"/"+file)
	}
	_, _ = fmt.Fprintf(d.out, "    $ kubectl loadtest run -n %s -f %s/{burst,clients,burst-then-steady}.yaml\n", ns, scenarios)
	progress := tools{out: discard{}, err: d.err} // the reports come later
	if err := progress.run(ctx, "kubectl", args...); err != nil && !isVerdict(err) {
		d.diagnose(ctx, ns)
		d.diagnose(ctx, operatorNamespace)
		return err
	}
	return d.collect(ctx, strategy)
}

// discard drops its input; unlike io.Discard it is no file for exec.
type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

// isVerdict says whether kubectl loadtest ended with a verdict about the target:
// Failed (1), Inconclusive (2) or Canceled (3).
func isVerdict(err error) bool {
	var exit *exec.ExitError
	return errors.As(err, &exit) && exit.ExitCode() >= 1 && exit.ExitCode() <= 3
}

func (d *demo) collect(ctx context.Context, strategy string) error {
	var list v1alpha1.LoadTestList
	if err := d.get(ctx, &list, "loadtests", "--namespace", namespace(strategy), "--sort-by=.metadata.creationTimestamp"); err != nil {
		return err
	}
	for i := range list.Items {
		d.results = append(d.results, outcome.Of(strategy, &list.Items[i]))
	}
	return nil
}

// racy is the scenario that every racy limiter fails.
const racy = "single-client-burst"

// look shows what there is to see.
func (d *demo) look(ctx context.Context) error {
	if err := d.show(ctx, "kubectl", "loadtest", "report", racy, "--namespace", namespace("hash")); err != nil {
		return err
	}
	_, _ = fmt.Fprintln(d.out)
	return d.show(ctx, "kubectl", "get", "loadtests", "--all-namespaces")
}

// further says how to go on.
func (d *demo) further() string {
	return fmt.Sprintf(`The cluster is left running. Look further:
    %s
    kubectl get loadtests --all-namespaces
    kubectl loadtest report %s -n limiter-lua
    kubectl loadtest run --replace -n limiter-hash -f %s/burst.yaml
    kubectl wait --for=condition=Finished loadtest/%s -n limiter-hash
Take it down, leaving nothing behind:
    make cluster-down
`, d.cluster.enter, racy, scenarios, racy)
}
