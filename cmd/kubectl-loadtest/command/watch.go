package command

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/display"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/exitcode"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/localcommand"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/progress"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report/form"
)

func (c *config) watch() *cobra.Command {
	var resume bool
	var timeout time.Duration
	command := &cobra.Command{
		Use:   "watch NAME",
		Short: "Follow a LoadTest to its end and print its report",
		Long: "Follow a LoadTest to its end and print its report. With --resume, a LoadTest that\n" +
			"spec.suspend holds is started first.\n\n" + exitcode.Help,
		Example: "  kubectl loadtest watch burst -n limiter\n" +
			"  kubectl loadtest watch nightly --resume --timeout 1h",
		Args: oneName,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, cancel := within(cmd.Context(), timeout)
			defer cancel()
			cluster, err := c.connect()
			if err != nil {
				return err
			}
			lt := &v1beta1.LoadTest{ObjectMeta: metav1.ObjectMeta{Namespace: cluster.namespace, Name: args[0]}}
			if resume {
				if lt, err = cluster.resume(ctx, lt.Name); err != nil {
					return err
				}
			}
			return c.followToExit(ctx, cluster, lt)
		},
	}
	command.Flags().BoolVar(&resume, "resume", false, "Set spec.suspend to false first")
	bindTimeout(command.Flags(), &timeout)
	return command
}

// bindTimeout defines the flag --timeout.
func bindTimeout(flags *pflag.FlagSet, timeout *time.Duration) {
	flags.VarP((*limit)(timeout), "timeout", "", "How long to wait for the end, such as 30m; 0: no limit. After that, a run in a cluster goes on, and a run with --local ends with what it measured")
	flags.Lookup("timeout").DefValue = "0" // which the help leaves out
}

// limit is a duration that is not negative: a minus would be no limit, or one that has passed.
type limit time.Duration

func (l *limit) String() string { return time.Duration(*l).String() }
func (*limit) Type() string     { return "duration" }

func (l *limit) Set(written string) error {
	d, err := time.ParseDuration(written)
	if err == nil && d < 0 {
		err = errors.New("must not be negative")
	}
	*l = limit(d)
	return err
}

// within is a context that ends when the timeout is over, if there is one.
func within(ctx context.Context, timeout time.Duration) (context.Context, context.CancelFunc) {
	if timeout <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, timeout)
}

func (c *config) display() display.Display {
	return display.On(c.streams.Err, c.streams.Size)
}

// followAndReport follows a LoadTest and prints its report; the code is that of
// its verdict.
func (c *config) followAndReport(ctx context.Context, cluster *cluster, lt *v1beta1.LoadTest) (int, error) {
	f := &follower{WithWatch: cluster.WithWatch, display: c.display(), latest: lt, retry: retry}
	finished, err := f.follow(ctx)
	switch {
	case ctx.Err() != nil:
		return 0, fmt.Errorf("%s, but LoadTest %s/%s goes on\n  follow it again:  %s\n  end it:           %s", localcommand.WhyEnded(ctx),
			lt.Namespace, lt.Name, commandLine("watch", lt.Namespace, lt.Name), commandLine("cancel", lt.Namespace, lt.Name))
	case err != nil:
		return 0, fmt.Errorf("follow LoadTest %s/%s: %w", lt.Namespace, lt.Name, err)
	}
	f.display.Say(time.Now(), progress.Line(finished))
	loads, err := cluster.loadsOf(ctx, finished)
	if err != nil {
		return 0, err
	}
	data, err := form.RenderAll(finished, loads, nil, "text", "")
	if err == nil {
		_, err = c.streams.Out.Write(data)
	}
	if err != nil {
		return 0, fmt.Errorf("write the report: %w", err)
	}
	return exitcode.Of(finished.Status.Verdict), nil
}

// followToExit is followAndReport for a command that is about one LoadTest.
func (c *config) followToExit(ctx context.Context, cluster *cluster, lt *v1beta1.LoadTest) error {
	code, err := c.followAndReport(ctx, cluster, lt)
	if err != nil {
		return err
	}
	return exitcode.Result(code)
}

// oneName takes the argument NAME.
func oneName(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("%s takes the NAME of one LoadTest, %d given; kubectl get loadtests lists them", cmd.Name(), len(args))
	}
	return nil
}

// onlyFiles refuses arguments of a command that takes files by a flag.
func onlyFiles(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%s takes files by -f, and %s stands without it", cmd.Name(), args[0])
	}
	return nil
}

func commandLine(verb, namespace, name string) string {
	return fmt.Sprintf("kubectl loadtest %s %s -n %s", verb, name, namespace)
}
