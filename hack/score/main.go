package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// kubeVersion is the oldest that the charts are for.
const kubeVersion = "1.34"

// ignored are checks that no chart of ours has to pass:
//
//	container-image-pull-policy     a tag is a version, and a pod starts while the registry is away
//	…-host-podantiaffinity          topology spread constraints do it, and also over zones
//	pod-networkpolicy               ours are about ingress: the API server, which the operator calls, is
//	                                no peer that a policy can name, and the doors of targets are open;
//	                                tests of the charts hold the rest
//
// A limit of processors is not asked for either: a throttled operator starts steps late, and
// a throttled target is measured as slow.
var ignored = []string{
	"container-image-pull-policy", "deployment-has-host-podantiaffinity", "statefulset-has-host-podantiaffinity", "pod-networkpolicy",
}

// ignoredOfTargets are those of targets besides:
//
//	container-ephemeral-storage-…   stores without a volume are bounded by the node: limits would evict what is measured
//	deployment-replicas, -strategy  one Redis or Nginx is what the experiments have, and two would not share their data
//	pod-probes, -identical          a store is ready when it listens, which the startup probe has seen
//	statefulset-has-servicename     their one pod is called by its Service, not by its own name
//	container-security-context-user-group-id  the users of the images of Postgres and the broker
var ignoredOfTargets = slices.Concat(ignored, []string{
	"container-ephemeral-storage-request-and-limit", "deployment-replicas", "deployment-strategy", "pod-probes", "pod-probes-identical",
	"statefulset-has-servicename", "container-security-context-user-group-id",
})

// rendered is a chart with values.
type rendered struct {
	chart   string
	values  []string
	ignored []string
}

var charts = []rendered{
	{"loadtest-operator", nil, ignored},
	{"loadtest-operator", []string{
		"watchNamespaces={a,b}", "networkPolicy.workers.enabled=true", "metrics.serviceMonitor.enabled=true",
		"metrics.prometheusRule.enabled=true", "metrics.dashboard.enabled=true", "priorityClassName=high",
		// The policy of workers selects pods that no chart has.
	}, append(slices.Clone(ignored), "networkpolicy-targets-pod")},
	{"targets", nil, ignoredOfTargets},
	{"targets", []string{
		"shortener.enabled=true", "shortener.replicas=2", "shortener.nginx.enabled=true", "shortener.connections=pgbouncer",
		"shortener.cache.enabled=true", "shortener.clicks.mode=kafka", "shortener.seed.rows=1000", "eventstore.enabled=true",
		"exporters.redis.enabled=true", "exporters.postgres.enabled=true", "ratelimiter.service.grpcPort=9090", "eventstore.service.grpcPort=9090",
		"tokens.enabled=true", "tokens.replicas=2",
	}, ignoredOfTargets},
}

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "score:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, w io.Writer) error {
	found := 0
	for _, r := range charts {
		lines, err := r.score(ctx)
		if err != nil {
			return fmt.Errorf("charts/%s: %w", r.chart, err)
		}
		for _, line := range lines {
			fmt.Fprintln(w, line)
		}
		found += len(lines)
	}
	if found > 0 {
		return fmt.Errorf("%d to mend", found)
	}
	_, err := fmt.Fprintln(w, "score: nothing to mend")
	return err
}

// score returns what is to mend.
func (r rendered) score(ctx context.Context) ([]string, error) {
	render := exec.CommandContext(ctx, "helm", "template", "scored", "charts/"+r.chart, "--namespace", "scored", "--kube-version", kubeVersion, "--set", strings.Join(r.values, ","))
	render.Stderr = os.Stderr
	objects, err := render.Output()
	if err != nil {
		return nil, fmt.Errorf("helm template: %w", err)
	}
	judge := exec.CommandContext(ctx, "kube-score", "score", "-", "--kubernetes-version", "v"+kubeVersion, "--output-format", "ci",
		"--ignore-container-cpu-limit", "--ignore-test", strings.Join(r.ignored, ","))
	judge.Stdin, judge.Stderr = bytes.NewReader(objects), os.Stderr
	said, err := judge.Output()
	lines := problems(string(said))
	if err != nil && len(lines) == 0 {
		return nil, fmt.Errorf("kube-score: %w", err)
	}
	return lines, nil
}

// problems are the lines that are neither fine nor left out.
func problems(said string) (lines []string) {
	for line := range strings.Lines(said) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "[OK]") && !strings.HasPrefix(line, "[SKIPPED]") {
			lines = append(lines, line)
		}
	}
	return lines
}
