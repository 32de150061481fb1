package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/hack/deploy"
	"github.com/loadtest-dev/loadtest-operator/hack/seeds/record"
)

const (
	// slack is how much longer than planned an experiment may take: what is too much for
	// its target has to be waited for, and lost data for two minutes.
	slack = 8 * time.Minute
	// removalLimit bounds the removal of a target.
	removalLimit = 2 * time.Minute
)

// release is the name of each target's Helm release.
const release = "target"

// experiment brings the target, runs the load tests, keeps their results, and removes
// the target, however it ends.
func (r *runner) experiment(ctx context.Context, j job) error {
	began := time.Now()
	limit := j.length + slack
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("not done within %s", limit))
	defer cancel()
	if err := r.remove(ctx, j, true); err != nil { // of a run that was interrupted
		return err
	}
	defer r.removeInAnyCase(ctx, j)
	if err := r.install(ctx, j); err != nil {
		return err
	}
	_, _ = fmt.Fprintf(r.Out, "    %s serves after %s\n", j.Preset, time.Since(began).Round(time.Second))
	rec := &record.Record{About: record.About{
		Experiment: j.Name, Hash: j.hash, Factor: j.factor, Command: "make seeds", Environment: r.environment,
	}}
	for _, test := range j.tests {
		lt, err := r.test(ctx, j, test)
		if err != nil {
			return err
		}
		rec.LoadTests = append(rec.LoadTests, *lt)
	}
	if err := rec.Ended(); err != nil {
		return err
	}
	var err error
	if rec.Results, err = r.results(ctx, j); err != nil {
		return err
	}
	rec.Date, rec.Took.Duration = record.Now(time.Now()), time.Since(began).Round(time.Second)
	if err := r.store.Write(rec); err != nil {
		return err
	}
	_, _ = fmt.Fprintf(r.Out, "    done in %s\n", rec.Took.Duration)
	return nil
}

func (r *runner) install(ctx context.Context, j job) error {
	args := []string{"--values", filepath.Join(deploy.TargetsChart, "values-"+j.Preset+".yaml"), "--wait-for-jobs"}
	for _, set := range j.sets {
		args = append(args, "--set", set)
	}
	if err := r.quiet.Install(ctx, release, deploy.TargetsChart, j.Namespace(), helmLimit, append(args, r.cluster.Targets...)...); err != nil {
		return err
	}
	for _, other := range j.others {
		if err := r.with(other, "needed", func(file string) error {
			return r.Quiet(ctx, "kubectl", "apply", "--server-side", "--namespace", j.Namespace(), "--filename", file)
		}); err != nil {
			return err
		}
	}
	return nil
}

// with puts a document into a file for a command.
func (r *runner) with(text []byte, name string, do func(file string) error) error {
	dir, err := os.MkdirTemp("", "seeds-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	file := filepath.Join(dir, name+".yaml")
	if err := os.WriteFile(file, text, 0o644); err != nil {
		return err
	}
	return do(file)
}

// test runs a load test and returns it as it ended.
func (r *runner) test(ctx context.Context, j job, test manifestOf) (*v1beta1.LoadTest, error) {
	began := time.Now()
	if err := r.with(test.text, test.name, func(file string) error {
		err := r.quiet.Run(ctx, "kubectl", "loadtest", "run", "--namespace", j.Namespace(), "--filename", file)
		if err != nil && !deploy.IsVerdict(err) {
			r.Diagnose(ctx, j.Namespace())
			r.Diagnose(ctx, deploy.OperatorNamespace)
			return err
		}
		return nil
	}); err != nil {
		return nil, err
	}
	lt := &v1beta1.LoadTest{}
	if err := r.Get(ctx, lt, "loadtest", test.name, "--namespace", j.Namespace()); err != nil {
		return nil, err
	}
	_, _ = fmt.Fprintf(r.Out, "    %s: %s in %s\n", test.name, lt.Status.Verdict, time.Since(began).Round(time.Second))
	return lt, nil
}

// results are the ConfigMaps with the results of all steps.
func (r *runner) results(ctx context.Context, j job) ([][]byte, error) {
	var list struct{ Items []json.RawMessage }
	if err := r.Get(ctx, &list, "configmaps", "--namespace", j.Namespace(), "--selector", "loadtest.dev/run"); err != nil {
		return nil, err
	}
	var documents [][]byte
	for _, item := range list.Items {
		text, err := yaml.JSONToYAML(item)
		if err != nil {
			return nil, err
		}
		documents = append(documents, text)
	}
	return documents, nil
}

// remove takes the target away with its namespace, and waits for that if the next one
// is to have the same.
func (r *runner) remove(ctx context.Context, j job, wait bool) error {
	return r.Quiet(ctx, "kubectl", "delete", "namespace", j.Namespace(), "--ignore-not-found", fmt.Sprintf("--wait=%t", wait))
}

// removeInAnyCase removes it when the time is up or the run is interrupted, too.
func (r *runner) removeInAnyCase(ctx context.Context, j job) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removalLimit)
	defer cancel()
	if err := r.remove(ctx, j, false); err != nil {
		_, _ = fmt.Fprintf(r.Err, "    %s is left: %v\n", j.Namespace(), err)
	}
}
