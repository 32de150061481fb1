package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/hack/deploy"
	"github.com/loadtest-dev/loadtest-operator/hack/seeds/experiment"
	"github.com/loadtest-dev/loadtest-operator/hack/seeds/manifest"
	"github.com/loadtest-dev/loadtest-operator/hack/seeds/record"
)

const samples = "config/samples/seeds"

// operatorLimit bounds the installation of the operator, helmLimit that of any release:
// Helm reports itself what was not ready.
const (
	operatorLimit = 4 * time.Minute
	helmLimit     = operatorLimit - 30*time.Second
)

// runner runs experiments.
type runner struct {
	deploy.Tools
	// quiet are the tools without their output.
	quiet       deploy.Tools
	cluster     deploy.Cluster
	store       record.Store
	factor      manifest.Factor
	environment record.Environment
}

func newRunner(store record.Store, factor manifest.Factor) (*runner, error) {
	cluster, err := deploy.ClusterOf(os.Getenv)
	if err != nil {
		return nil, err
	}
	return &runner{
		Tools: deploy.Tools{Out: os.Stdout, Err: os.Stderr}, quiet: deploy.Tools{Out: deploy.Discard{}, Err: os.Stderr},
		cluster: cluster, store: store, factor: factor,
	}, nil
}

// job is an experiment that has to run.
type job struct {
	experiment.Experiment
	// tests are the load tests, scaled, in order; others what they need.
	tests  []manifestOf
	others [][]byte
	// sets are values over those of the preset: the experiment's, and the scaled limits.
	sets []string
	// factor has these limits, too.
	factor manifest.Factor
	hash   string
	// length is about how long it takes.
	length time.Duration
}

// manifestOf is a load test as it is applied.
type manifestOf struct {
	name   string
	text   []byte
	length time.Duration
}

// all runs those of the experiments that have no result; with plan it says which.
func (r *runner) all(ctx context.Context, chosen []experiment.Experiment, plan bool) error {
	jobs, err := r.jobs(ctx, chosen)
	if err != nil {
		return err
	}
	p := newProgress(jobs)
	_, _ = fmt.Fprintf(r.Out, "\n==> %d experiments, %d of them have a result; %s\n    %s\n", len(chosen), len(chosen)-len(jobs), p.left(), r.factor)
	if plan {
		for _, j := range jobs {
			_, _ = fmt.Fprintf(r.Out, "    %-20s about %s: %s\n", j.Name, round(j.length), strings.Join(j.Tests, ", "))
			if j.factor.Limits != "" {
				_, _ = fmt.Fprintf(r.Out, "    %20s %s\n", "", j.factor.Limits)
			}
		}
		return nil
	}
	if len(jobs) == 0 {
		return nil
	}
	if err := r.Phase(ctx, "Install the operator", operatorLimit, func(ctx context.Context) error {
		return r.quiet.InstallOperator(ctx, r.cluster, helmLimit)
	}); err != nil {
		return err
	}
	if r.environment, err = r.here(ctx); err != nil {
		return err
	}
	var failed []error
	for _, j := range jobs {
		_, _ = fmt.Fprintf(r.Out, "\n==> %s\n", p.begin(j))
		if err := r.experiment(ctx, j); err != nil {
			if deploy.Interrupted(ctx) {
				return err
			}
			_, _ = fmt.Fprintf(r.Out, "    FAILED: %v\n", err)
			failed = append(failed, fmt.Errorf("%s: %w", j.Name, err))
		}
		p.end(j)
	}
	return errors.Join(failed...)
}

// jobs are the experiments without a result of just what would run.
func (r *runner) jobs(ctx context.Context, chosen []experiment.Experiment) ([]job, error) {
	var jobs []job
	for _, e := range chosen {
		j, err := r.job(ctx, e)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", e.Name, err)
		}
		old, err := r.store.Read(e.Name)
		if err != nil {
			return nil, err
		}
		if old == nil || old.Hash != j.hash {
			jobs = append(jobs, j)
		}
	}
	return jobs, nil
}

// current are the results of what would run now. Those of load tests that have changed
// since are left out: neither a judgement nor a document is about them.
func (r *runner) current(ctx context.Context) (record.Results, error) {
	all, err := r.store.All()
	if err != nil {
		return nil, err
	}
	jobs, err := r.jobs(ctx, experiment.All())
	if err != nil {
		return nil, err
	}
	for _, j := range jobs {
		delete(all, j.Name)
	}
	return all, nil
}

// job renders an experiment's overlay and scales it.
func (r *runner) job(ctx context.Context, e experiment.Experiment) (job, error) {
	text, err := r.Output(ctx, "kubectl", "kustomize", filepath.Join(samples, e.Name))
	if err != nil {
		return job{}, err
	}
	m, err := manifest.Parse(text)
	if err != nil {
		return job{}, err
	}
	j := job{Experiment: e, others: m.Others, length: bring(e), sets: slices.Clone(e.Set), factor: r.factor}
	target, err := r.limit(&j)
	if err != nil {
		return job{}, err
	}
	parts := append(append([][]byte{[]byte(strings.Join(j.sets, "\n"))}, m.Others...), target...)
	for _, name := range e.Tests {
		lt, err := m.Named(name)
		if err != nil {
			return job{}, err
		}
		lt = manifest.Scale(lt, r.factor)
		text, err := applied(lt)
		if err != nil {
			return job{}, err
		}
		length := manifest.Length(lt)
		j.tests = append(j.tests, manifestOf{name, text, length})
		j.length += length
		parts = append(parts, text)
	}
	j.hash = record.Hash(j.factor, parts...)
	return j, nil
}

// limit scales the limits of the job's target, and returns the values that it is made of.
func (r *runner) limit(j *job) ([][]byte, error) {
	var values [][]byte
	for _, file := range []string{"values.yaml", "values-" + j.Preset + ".yaml"} {
		text, err := os.ReadFile(filepath.Join(deploy.TargetsChart, file))
		if err != nil {
			return nil, err
		}
		values = append(values, text)
	}
	limits, err := r.factor.LimitsOf(append(slices.Clone(values), manifest.Sets(j.Set)...)...)
	if err != nil {
		return nil, err
	}
	for _, l := range limits {
		j.sets = append(j.sets, l.Set())
	}
	j.factor.Limits = manifest.InWords(limits)
	return values, nil
}

// applied is an object to apply: without the status, which is the operator's.
func applied(of any) ([]byte, error) {
	text, err := json.Marshal(of)
	if err != nil {
		return nil, err
	}
	var object map[string]any
	if err := json.Unmarshal(text, &object); err != nil {
		return nil, err
	}
	delete(object, "status")
	return yaml.Marshal(object)
}

// here is this machine, with what the cluster and the repository say.
func (r *runner) here(ctx context.Context) (record.Environment, error) {
	e := record.Here()
	var version struct {
		ServerVersion struct {
			GitVersion string `json:"gitVersion"`
		} `json:"serverVersion"`
	}
	text, err := r.Output(ctx, "kubectl", "version", "--output=json")
	if err != nil {
		return e, err
	}
	if err := json.Unmarshal(text, &version); err != nil {
		return e, fmt.Errorf("read the version of the cluster: %w", err)
	}
	nodes, err := r.Output(ctx, "kubectl", "get", "nodes", "--output=name")
	if err != nil {
		return e, err
	}
	e.Kubernetes = version.ServerVersion.GitVersion
	e.Cluster = fmt.Sprintf("%d nodes on the machine, with generator, operator and target", bytes.Count(nodes, []byte("\n")))
	commit, err := r.Output(ctx, "git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*")
	if err != nil {
		return e, err
	}
	e.Commit = strings.TrimSpace(string(commit))
	return e, nil
}
