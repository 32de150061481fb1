package command

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/local"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/progress"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/serve"
	"github.com/loadtest-dev/loadtest-operator/measure/archive"
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
		return errors.Join(local.Services(o.services).Check(), checkOutput(o.output), o.results.check())
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
	worst, _, err := c.runTests(ctx, tests, objects, o, live)
	if err != nil {
		return err
	}
	return exit(worst)
}

// outcome is a LoadTest that has run, and the results of its steps beyond their summary.
type outcome struct {
	test *v1beta1.LoadTest
	// loads are the LoadTests of the loads that ran side by side.
	loads    []*v1beta1.LoadTest
	archived []*archive.Step
}

// runTests runs LoadTests and prints their reports. It returns the highest of their exit
// codes, and what came of the last one that ran.
func (c *config) runTests(ctx context.Context, manifests []manifest, objects *local.Objects, o *localOptions, live *live) (worst int, last outcome, err error) {
	services := local.Services{}
	for name, address := range o.services {
		services[name] = address
	}
	if o.serve != "" {
		address, stop, err := serve.Start(ctx, o.serve)
		if err != nil {
			return codeError, outcome{}, err
		}
		defer func() { err = errors.Join(err, stop()) }()
		services[serve.Service(o.serve)] = address
		c.announce(o.serve, address)
	}
	before, err := c.readBaseline(o.baseline, manifests)
	if err != nil {
		return codeError, outcome{}, err
	}
	tests, err := admit(ctx, manifests, objects, services)
	if err != nil {
		return codeError, outcome{}, err
	}
	results, closeResults, err := o.results.open(len(tests), c.warn)
	if err != nil {
		return codeError, outcome{}, err
	}
	defer func() { err = errors.Join(err, closeResults()) }()
	for i, lt := range tests {
		if i > 0 {
			_, _ = fmt.Fprintln(c.streams.Out)
		}
		if last, err = c.runTest(ctx, lt, local.Config{Files: objects, Services: services, Results: results, Baseline: before}, live); err != nil {
			return codeError, outcome{}, err
		}
		if err := c.write(last, o.output); err != nil {
			return codeError, outcome{}, err
		}
		worst = max(worst, exitCode(last.test.Status.Verdict))
		if ctx.Err() != nil {
			break // it was this one that was canceled, and those after it with it
		}
	}
	return worst, last, nil
}

// write writes the report.
func (c *config) write(o outcome, output string) error {
	data, err := renderAll(o.test, o.loads, o.archived, output, "")
	if err == nil {
		_, err = c.streams.Out.Write(data)
	}
	return err
}

// warn says what is wrong with something that was done all the same.
func (c *config) warn(sentence string) { _, _ = fmt.Fprintln(c.streams.Err, sentence) }

func (c *config) announce(name, address string) {
	_, _ = fmt.Fprintf(c.streams.Err, "%s serves on %s, in this process and with its data in memory: good for a try, not for figures\n", name, address)
}

// runTest runs a LoadTest and shows how it is getting on. The first interrupt ends it
// with what was measured, the second at once.
func (c *config) runTest(ctx context.Context, lt *v1beta1.LoadTest, config local.Config, live *live) (o outcome, err error) {
	program, err := os.Executable()
	if err != nil {
		return o, fmt.Errorf("find this program, which workers run: %w", err)
	}
	running, stop := untilSecondInterrupt(ctx)
	defer stop()
	shown := c.display()
	defer shown.Clear()
	terminate, err := live.runs(ctx, lt)
	if err != nil {
		return o, err
	}
	config.Command, config.Terminate = []string{program, workerCommand}, terminate
	config.Say = func(sentence string) { shown.Say(time.Now(), sentence) }
	config.Show = func(lt *v1beta1.LoadTest) {
		live.show(lt)
		now := time.Now()
		shown.Show(now, func(width, height int) []string { return progress.View(lt, now, width, height) }, progress.Line(lt))
	}
	config.Keep = func(step *archive.Step) {
		live.keep(step)
		o.archived = append(o.archived, step)
	}
	if len(lt.Spec.Loads) > 0 {
		o.test, o.loads, err = local.RunLoads(running, lt, config)
	} else {
		o.test, err = local.Run(running, lt, config)
	}
	switch {
	case running.Err() != nil:
		return o, fmt.Errorf("interrupted twice: LoadTest %s/%s was abandoned, and its measurements are lost", lt.Namespace, lt.Name)
	case err != nil:
		return o, fmt.Errorf("run LoadTest %s/%s: %w", lt.Namespace, lt.Name, err)
	}
	shown.Say(time.Now(), progress.Line(o.test))
	return o, nil
}

// untilSecondInterrupt returns a context that ends with the first interrupt after the
// one that ends ctx.
func untilSecondInterrupt(ctx context.Context) (context.Context, func()) {
	running, end := context.WithCancel(context.WithoutCancel(ctx))
	context.AfterFunc(ctx, func() {
		again := make(chan os.Signal, 1)
		signal.Notify(again, os.Interrupt, syscall.SIGTERM)
		defer signal.Stop(again)
		select {
		case <-again:
			end()
		case <-running.Done():
		}
	})
	return running, end
}

// workerCommand is the name of the command that is a worker.
const workerCommand = "local-worker"

// worker is what a run on this machine starts. A person has no use for it.
func (c *config) worker() *cobra.Command {
	return &cobra.Command{
		Use:    workerCommand,
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
