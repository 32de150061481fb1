package localcommand

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/display"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/document"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/exitcode"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/local"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/progress"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report/form"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/serve"
	"github.com/loadtest-dev/loadtest-operator/measure/archive"
)

// WorkerCommand is the argument with which a program is started that becomes a worker. A program that
// uses a Runner calls local.Worker for it.
const WorkerCommand = "local-worker"

// Runner runs LoadTests on this machine.
type Runner struct {
	// Out takes reports, Err what is said meanwhile.
	Out, Err io.Writer
	// Size is that of the terminal that Err is, in columns and rows; nil when it is none.
	Size func() (columns, rows int)
	// Admit returns a LoadTest as an API server would store it, with its defaults, or refuses it.
	Admit func(context.Context, document.Manifest) (*v1beta1.LoadTest, error)
	// Page shows the runs; nil: there is none.
	Page Page
}

// Page shows runs on this machine beside the terminal.
type Page interface {
	// Runs takes a run that begins. What it returns ends the run: when ctx ends, or a person says so on
	// the page.
	Runs(ctx context.Context, lt *v1beta1.LoadTest) (terminate <-chan struct{}, err error)
	// Show takes the state of a run, or of a load of it. The LoadTest belongs to the caller, who goes on
	// to change it.
	Show(lt *v1beta1.LoadTest)
	// Keep takes the results of a step.
	Keep(step *archive.Step)
}

// Options say how LoadTests run, and how their reports are written.
type Options struct {
	// Objects are the ConfigMaps and Secrets that LoadTests name; nil: there are none.
	Objects *local.Objects
	// Services are addresses by the names of Services.
	Services local.Services
	// Serve is a reference system that is started; empty: none is.
	Serve string
	// Output is one of form.Names.
	Output string
	// Baseline is a finished LoadTest to compare with; nil: there is none.
	Baseline *v1beta1.LoadTest
	// Results opens the place of the results of single requests of these LoadTests, or refuses it, and
	// returns what closes it; nil: they are not kept.
	Results func(tests []*v1beta1.LoadTest) (results *local.Results, closeResults func() error, err error)
}

// Outcome is a LoadTest that has run, and the results of its steps beyond their summary.
type Outcome struct {
	Test *v1beta1.LoadTest
	// Loads are the LoadTests of the loads that ran side by side. The archived steps are theirs then.
	Loads    []*v1beta1.LoadTest
	Archived []*archive.Step
}

// Run runs LoadTests, one after another, and prints their reports. All are admitted before the first
// runs. It returns the highest of their exit codes, and what came of the last one that ran.
func (r *Runner) Run(ctx context.Context, manifests []document.Manifest, o *Options) (worst int, last Outcome, err error) {
	services := local.Services{}
	for name, address := range o.Services {
		services[name] = address
	}
	if o.Serve != "" {
		address, stop, err := serve.Start(ctx, o.Serve)
		if err != nil {
			return exitcode.Error, Outcome{}, err
		}
		defer func() { err = errors.Join(err, stop()) }()
		services[serve.Service(o.Serve)] = address
		r.say(fmt.Sprintf("%s serves on %s, in this process and with its data in memory: good for a try, not for figures", o.Serve, address))
	}
	tests, err := r.admit(ctx, manifests, o, services)
	if err != nil {
		return exitcode.Error, Outcome{}, err
	}
	var results *local.Results
	if o.Results != nil {
		var closeResults func() error
		if results, closeResults, err = o.Results(tests); err != nil {
			return exitcode.Error, Outcome{}, err
		}
		defer func() { err = errors.Join(err, closeResults()) }()
	}
	for i, lt := range tests {
		if i > 0 {
			_, _ = fmt.Fprintln(r.Out)
		}
		if last, err = r.run(ctx, lt, local.Config{Files: o.Objects, Services: services, Results: results, Baseline: o.Baseline}); err != nil {
			return exitcode.Error, Outcome{}, err
		}
		if err := r.write(last, o.Output); err != nil {
			return exitcode.Error, Outcome{}, err
		}
		worst = max(worst, exitcode.Of(last.Test.Status.Verdict))
		if ctx.Err() != nil {
			return max(worst, r.leave(ctx, tests[i+1:])), last, nil
		}
	}
	return worst, last, nil
}

// leave names the LoadTests that do not run after the end of ctx, and returns the exit code that this has: the runs
// before them may all have passed.
func (r *Runner) leave(ctx context.Context, left []*v1beta1.LoadTest) int {
	for _, lt := range left {
		r.say(fmt.Sprintf("LoadTest %s/%s was not run: %s", lt.Namespace, lt.Name, WhyEnded(ctx)))
	}
	if len(left) > 0 {
		return exitcode.Canceled
	}
	return exitcode.Passed
}

// WhyEnded is why a command is to end: the end of its context.
func WhyEnded(ctx context.Context) string {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return "--timeout has passed"
	}
	return "interrupted"
}

// write writes the report.
func (r *Runner) write(o Outcome, output string) error {
	data, err := form.RenderLocal(o.Test, o.Loads, o.Archived, output)
	if err == nil {
		_, err = r.Out.Write(data)
	}
	return err
}

func (r *Runner) say(sentence string) { _, _ = fmt.Fprintln(r.Err, sentence) }

// run runs a LoadTest and shows how it is getting on. The first interrupt ends it with what was
// measured, the second at once.
func (r *Runner) run(ctx context.Context, lt *v1beta1.LoadTest, config local.Config) (o Outcome, err error) {
	program, err := os.Executable()
	if err != nil {
		return o, fmt.Errorf("find this program, which workers run: %w", err)
	}
	running, stop := untilSecondInterrupt(ctx)
	defer stop()
	shown := display.On(r.Err, r.Size)
	defer shown.Clear()
	config.Command, config.Terminate = []string{program, WorkerCommand}, ctx.Done()
	if r.Page != nil {
		if config.Terminate, err = r.Page.Runs(ctx, lt); err != nil {
			return o, err
		}
		config.ShowLoad = r.Page.Show
	}
	config.Say = func(sentence string) { shown.Say(time.Now(), sentence) }
	config.Show = func(lt *v1beta1.LoadTest) {
		if r.Page != nil {
			r.Page.Show(lt)
		}
		now := time.Now()
		shown.Show(now, func(width, height int) []string { return progress.View(lt, now, width, height) }, progress.Line(lt))
	}
	config.Keep = func(step *archive.Step) {
		if r.Page != nil {
			r.Page.Keep(step)
		}
		o.Archived = append(o.Archived, step)
	}
	if len(lt.Spec.Loads) > 0 {
		o.Test, o.Loads, err = local.RunLoads(running, lt, config)
	} else {
		o.Test, err = local.Run(running, lt, config)
	}
	switch {
	case running.Err() != nil:
		return o, fmt.Errorf("interrupted twice: LoadTest %s/%s was abandoned, and its measurements are lost", lt.Namespace, lt.Name)
	case err != nil:
		return o, fmt.Errorf("run LoadTest %s/%s: %w", lt.Namespace, lt.Name, err)
	}
	shown.Say(time.Now(), progress.Line(o.Test))
	if ctx.Err() != nil && o.Test.Status.Verdict == v1beta1.VerdictCanceled {
		// The verdict speaks of spec.terminate, which stands for both on this machine.
		shown.Say(time.Now(), fmt.Sprintf("LoadTest %s/%s was ended: %s", lt.Namespace, lt.Name, WhyEnded(ctx)))
	}
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
