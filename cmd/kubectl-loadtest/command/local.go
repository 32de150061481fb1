package command

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/admission"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/document"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/exitcode"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/local"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/localcommand"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report/form"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/serve"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// localOptions are the flags of a run on this machine.
type localOptions struct {
	enabled  bool
	with     []string
	claims   map[string]string
	services map[string]string
	serve    string
	output   string
	baseline string
	results  resultsOptions
}

// localFlags are the names of those that need --local.
var localFlags = []string{"with", "claim", "service", "serve", "output", "baseline", "results", "results-encoding"}

func (o *localOptions) bind(flags *pflag.FlagSet) {
	flags.BoolVar(&o.enabled, "local", false, "Run on this machine, without a cluster: the same plan, measurement and verdict, with processes in place of pods")
	flags.StringArrayVar(&o.with, "with", nil, "With --local: folder with manifests of ConfigMaps and Secrets that the LoadTests name; the files of -f are always searched")
	flags.StringToStringVar(&o.claims, "claim", nil, "With --local: NAME=FOLDER, which stands for the PersistentVolumeClaim NAME of a volume; may be given several times")
	flags.StringToStringVar(&o.services, "service", nil, "With --local: NAME=HOST:PORT, where Service NAME of spec.target.service listens; may be given several times")
	flags.StringVar(&o.serve, "serve", "", "With --local: start a reference system in this process, with its data in memory, as the Service of its name: "+oneOf(serve.Names()))
	flags.StringVarP(&o.output, "output", "o", "text", "With --local: form of the report, as of the command report")
	flags.StringVar(&o.baseline, "baseline", "", "With --local: file with a finished LoadTest, as -o json and yaml write it, or of the archive, which stands for the LoadTest of spec.baseline")
	o.results.bind(flags)
}

// check refuses flags that have no meaning together.
func (o *localOptions) check(flags *pflag.FlagSet) error {
	if o.enabled {
		for _, name := range []string{"replace", "resume"} {
			if flags.Changed(name) {
				return fmt.Errorf("--%s has no meaning with --local, which keeps nothing", name)
			}
		}
		return errors.Join(local.Services(o.services).Check(), form.Check(o.output), o.results.check())
	}
	for _, name := range localFlags {
		if flags.Changed(name) {
			return fmt.Errorf("--%s needs --local: a run in a cluster has its targets, ConfigMaps and Secrets there", name)
		}
	}
	return nil
}

// runLocal runs LoadTests on this machine, one after another. All are admitted before
// the first runs.
func (c *config) runLocal(ctx context.Context, files []string, o *localOptions, live *live) error {
	tests, objects, err := c.readLocal(files, o.with)
	if err != nil {
		return err
	}
	objects.SetClaims(o.claims)
	before, err := c.readBaseline(o.baseline, tests)
	if err != nil {
		return err
	}
	worst, _, err := c.runner(live).Run(ctx, tests, &localcommand.Options{
		Objects: objects, Services: o.services, Serve: o.serve, Output: o.output, Baseline: before,
		Results: func(tests []*v1beta1.LoadTest) (*local.Results, func() error, error) {
			return o.results.open(tests, c.warn)
		},
	})
	if err != nil {
		return err
	}
	return exitcode.Result(worst)
}

// runner runs LoadTests on this machine.
func (c *config) runner(live *live) *localcommand.Runner {
	r := &localcommand.Runner{Out: c.streams.Out, Err: c.streams.Err, Size: c.streams.Size, Admit: admit}
	if live != nil {
		r.Page = live
	}
	return r
}

// warn says what is wrong with something that was done all the same.
func (c *config) warn(sentence string) { _, _ = fmt.Fprintln(c.streams.Err, text.Lines(sentence)) }

// admit does to a LoadTest what an API server does.
func admit(ctx context.Context, m document.Manifest) (*v1beta1.LoadTest, error) {
	rules, err := admission.OfLoadTests()
	if err != nil {
		return nil, err
	}
	return rules.Admit(ctx, m)
}

// worker is what a run on this machine starts. A person has no use for it.
func (c *config) worker() *cobra.Command {
	return &cobra.Command{
		Use:    localcommand.WorkerCommand,
		Short:  "Send a share of the load of kubectl loadtest run --local",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			// The terminal's interrupt is for the process that started this one.
			signal.Ignore(os.Interrupt)
			return local.Worker(context.WithoutCancel(cmd.Context()), c.streams.In, Version, slog.New(slog.NewTextHandler(c.streams.Err, nil)))
		},
	}
}
