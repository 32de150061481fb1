package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/hack/demo/outcome"
	"github.com/loadtest-dev/loadtest-operator/hack/deploy"
)

const scenarios = "config/samples/seeds/004"

// strategies are the variants of the limiter, in the order in which they run:
// the racy one first. Each has the namespace limiter-NAME.
var strategies = []string{"hash", "lua"}

// files are the scenarios in the order of the seed.
var files = []string{"burst.yaml", "clients.yaml", "burst-then-steady.yaml"}

// fileOf is the file of each scenario, by the name of its LoadTest.
var fileOf = map[string]string{racy: "burst.yaml", "five-clients": "clients.yaml", "burst-then-steady": "burst-then-steady.yaml"}

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
	deploy.Tools
	cluster deploy.Cluster
	results []outcome.Result
}

func (d *demo) phases(ctx context.Context) error {
	if _, err := os.Stat(scenarios); err != nil {
		return fmt.Errorf("%s is not here: run the demo from the root of the repository, by make demo", scenarios)
	}
	if err := d.Phase(ctx, "Install the operator", installLimit, func(ctx context.Context) error { return d.InstallOperator(ctx, d.cluster, helmLimit) }); err != nil {
		return err
	}
	for _, strategy := range strategies {
		title := fmt.Sprintf("Install a rate limiter: strategy %s, four replicas behind Nginx, one Redis", strategy)
		if err := d.Phase(ctx, title, installLimit, func(ctx context.Context) error { return d.installTarget(ctx, strategy) }); err != nil {
			return err
		}
	}
	for _, strategy := range strategies {
		title := fmt.Sprintf("Run the three scenarios of seed 004 against %s", strategy)
		if err := d.Phase(ctx, title, runLimit, func(ctx context.Context) error { return d.runScenarios(ctx, strategy) }); err != nil {
			return err
		}
	}
	if err := d.Phase(ctx, "Look at the results", lookLimit, d.look); err != nil {
		return err
	}
	_, _ = fmt.Fprintf(d.Out, "\n%s\n%s", outcome.Table(d.results), d.further())
	return nil
}

func (d *demo) installTarget(ctx context.Context, strategy string) error {
	preset := fmt.Sprintf("%s/values-seed-004-%s.yaml", deploy.TargetsChart, strategy)
	args := append([]string{"--values", preset}, d.cluster.Targets...)
	return d.Install(ctx, "limiter", deploy.TargetsChart, namespace(strategy), helmLimit, args...)
}

func namespace(strategy string) string { return "limiter-" + strategy }

func (d *demo) runScenarios(ctx context.Context, strategy string) error {
	ns := namespace(strategy)
	// Of an earlier demo, even of one that was interrupted.
	if err := d.Quiet(ctx, "kubectl", "delete", "loadtests", "--all", "--namespace", ns, "--cascade=foreground"); err != nil {
		return err
	}
	_, _ = fmt.Fprintf(d.Out, "    $ kubectl loadtest run -n %s -f %s/{burst,clients,burst-then-steady}.yaml\n", ns, scenarios)
	if err := d.runFiles(ctx, ns, files); err != nil {
		return err
	}
	list, err := d.runsOf(ctx, ns)
	if err != nil {
		return err
	}
	if again := d.inconclusive(list); len(again) > 0 {
		if err := d.runFiles(ctx, ns, again, "--replace"); err != nil {
			return err
		}
		if list, err = d.runsOf(ctx, ns); err != nil {
			return err
		}
	}
	for i := range list {
		d.results = append(d.results, outcome.Of(strategy, &list[i]))
	}
	return nil
}

// runFiles runs the LoadTests of files, one after another, to their verdicts.
func (d *demo) runFiles(ctx context.Context, namespace string, files []string, flags ...string) error {
	args := append([]string{"loadtest", "run", "--namespace", namespace}, flags...)
	for _, file := range files {
		args = append(args, "--filename", scenarios+"/"+file)
	}
	progress := deploy.Tools{Out: deploy.Discard{}, Err: d.Err} // the reports come later
	if err := progress.Run(ctx, "kubectl", args...); err != nil && !deploy.IsVerdict(err) {
		d.Diagnose(ctx, namespace)
		d.Diagnose(ctx, deploy.OperatorNamespace)
		return err
	}
	return nil
}

func (d *demo) runsOf(ctx context.Context, namespace string) ([]v1beta1.LoadTest, error) {
	var list v1beta1.LoadTestList
	err := d.Get(ctx, &list, "loadtests", "--namespace", namespace, "--sort-by=.metadata.creationTimestamp")
	return list.Items, err
}

// inconclusive returns the files of the scenarios that could not be judged, and says why.
// They run once more: a cluster that shares two processors with its targets can be late by
// more than a burst allows, and that says nothing about the limiter.
func (d *demo) inconclusive(list []v1beta1.LoadTest) []string {
	var again []string
	for i := range list {
		lt := &list[i]
		file, known := fileOf[lt.Name]
		if !known || lt.Status.Verdict != v1beta1.VerdictInconclusive {
			continue
		}
		why := "its LoadTest does not say why"
		if c := meta.FindStatusCondition(lt.Status.Conditions, v1beta1.ConditionFinished); c != nil {
			why = c.Message
		}
		_, _ = fmt.Fprintf(d.Out, "    %s is Inconclusive, and runs once more: %s\n", lt.Name, why)
		again = append(again, file)
	}
	return again
}

// racy is the scenario that every racy limiter fails.
const racy = "single-client-burst"

// look shows what there is to see.
func (d *demo) look(ctx context.Context) error {
	if err := d.Show(ctx, "kubectl", "loadtest", "report", racy, "--namespace", namespace("hash")); err != nil {
		return err
	}
	_, _ = fmt.Fprintln(d.Out)
	return d.Show(ctx, "kubectl", "get", "loadtests", "--all-namespaces")
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
`, d.cluster.Enter, racy, scenarios, racy)
}
