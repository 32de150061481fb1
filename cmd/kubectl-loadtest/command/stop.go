package command

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	configv1 "github.com/loadtest-dev/loadtest-operator/api/config/v1alpha1"
)

// codeNotEnded is that of a stop of which a run did not end in time.
const codeNotEnded = 1

// stopOptions are the flags of stop.
type stopOptions struct {
	switchOptions
	status, yes bool
	reason      string
	timeout     time.Duration
}

func (c *config) stop() *cobra.Command {
	var o stopOptions
	command := &cobra.Command{
		Use:   "stop --all",
		Short: "End every LoadTest within seconds, and let none begin",
		Long: "Set the operator's switch: every LoadTest that runs ends within seconds, keeps what was\n" +
			"measured, and has the verdict Canceled; one that has not begun waits until resume --all.\n" +
			"With --namespace, it stops one namespace. The conditions and Events of each run say who\n" +
			"stopped it, and why. A line is printed for each run when it has ended.\n\n" +
			"The switch is the key stop.yaml of the operator's ConfigMap. Without the right to\n" +
			"change that, --all with --namespace ends each run of the namespace by spec.terminate:\n" +
			"others can begin.\n\n" +
			"Exit code:\n" +
			"  0  runs are stopped, and every one has ended\n" +
			"  1  runs are stopped, but one has not ended within --timeout\n" +
			"  4  runs are not stopped, or their state is unknown",
		Example: "  kubectl loadtest stop --all --reason 'incident 4711'\n" +
			"  kubectl loadtest stop --all -n shop --reason 'release' --yes\n" +
			"  kubectl loadtest stop --status",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.all == o.status {
				return errors.New("give --all to stop runs, or --status to see whether they are; cancel ends a LoadTest by its name")
			}
			if o.status {
				return c.showSwitch(cmd.Context(), &o.switchOptions)
			}
			return c.runStop(cmd.Context(), &o)
		},
	}
	flags := command.Flags()
	o.bind(flags)
	flags.BoolVar(&o.status, "status", false, "Print who stopped what, and change nothing")
	flags.StringVar(&o.reason, "reason", "", "Why; the conditions and Events of the runs show it")
	flags.BoolVarP(&o.yes, "yes", "y", false, "Do not ask")
	o.timeout = 30 * time.Second
	flags.Var((*limit)(&o.timeout), "timeout", "How long to wait until the runs have ended")
	return command
}

func (c *config) resume() *cobra.Command {
	var o switchOptions
	command := &cobra.Command{
		Use:   "resume --all",
		Short: "Let LoadTests begin again after stop --all",
		Long: "Undo stop --all: waiting LoadTests begin. LoadTests that it ended stay ended; rerun\n" +
			"repeats one. With --namespace, undo stop --all of that namespace.\n\n" +
			"Exit code: 0 on success, else 4.",
		Example: "  kubectl loadtest resume --all\n  kubectl loadtest resume --all -n shop",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !o.all {
				return errors.New("give --all; a LoadTest that spec.suspend holds is resumed by watch --resume")
			}
			return c.runResume(cmd.Context(), &o)
		},
	}
	o.bind(command.Flags())
	return command
}

func (c *config) runStop(ctx context.Context, o *stopOptions) error {
	cluster, err := c.connect()
	if err != nil {
		return err
	}
	what := "every namespace"
	if cluster.explicit {
		what = "namespace " + cluster.namespace
	}
	if !o.yes && !c.confirms(fmt.Sprintf("End all LoadTests of %s, and let none begin?", what)) {
		return errors.New("nothing was stopped: confirm with yes, or give --yes")
	}
	ctx, cancel := context.WithTimeout(ctx, o.timeout+requestsTake)
	defer cancel()
	begun := time.Now()
	since := metav1.NewTime(begun.UTC().Truncate(time.Second))
	stop := configv1.Stop{Namespaces: cluster.scope(), By: cluster.user(ctx), Reason: o.reason, Since: &since}
	_, err = cluster.turn(ctx, &o.switchOptions, func(stops []configv1.Stop) []configv1.Stop {
		return append(without(stops, stop.Namespaces), stop)
	})
	e := &ending{config: c, cluster: cluster, begun: begun}
	switch {
	case apierrors.IsForbidden(err) && cluster.explicit:
		_, _ = fmt.Fprintf(c.streams.Err, "The switch cannot be set: %v.\nEach run of %s is ended by spec.terminate instead; others can begin.\n", err, what)
		e.terminates = true
	case apierrors.IsForbidden(err):
		return fmt.Errorf("the switch cannot be set: %w: ask the operator's administrator, or end the runs of a namespace with --namespace", err)
	case err != nil:
		return fmt.Errorf("set the switch: %w", err)
	default:
		_, _ = fmt.Fprintf(c.streams.Out, "Runs of %s are stopped by %s.\n", what, stop.By)
	}
	return e.await(ctx, o.timeout)
}

// requestsTake is how long the requests before the wait may take.
const requestsTake = 30 * time.Second

// confirms asks a question.
func (c *config) confirms(question string) bool {
	_, _ = fmt.Fprint(c.streams.Err, question+" Type yes: ")
	answer, _ := bufio.NewReader(c.streams.In).ReadString('\n')
	return strings.EqualFold(strings.TrimSpace(answer), "yes")
}

func (c *config) runResume(ctx context.Context, o *switchOptions) error {
	cluster, err := c.connect()
	if err != nil {
		return err
	}
	a, err := cluster.turn(ctx, o, func(stops []configv1.Stop) []configv1.Stop { return without(stops, cluster.scope()) })
	if apierrors.IsForbidden(err) {
		return fmt.Errorf("the switch cannot be taken back: %w: ask the operator's administrator", err)
	}
	if err != nil {
		return fmt.Errorf("take back the switch: %w", err)
	}
	return c.say(a)
}

func (c *config) showSwitch(ctx context.Context, o *switchOptions) error {
	cluster, err := c.connect()
	if err != nil {
		return err
	}
	a, err := cluster.administration(ctx, o)
	if apierrors.IsForbidden(err) {
		return fmt.Errorf("the switch cannot be read: %w: condition Suspended of a waiting LoadTest says why it waits", err)
	}
	if err != nil {
		return fmt.Errorf("read the switch: %w", err)
	}
	return c.say(a)
}

// say prints what is stopped.
func (c *config) say(a *administration) error {
	lines := a.inForce()
	if len(lines) == 0 {
		lines = []string{"No run is stopped."}
	}
	_, err := fmt.Fprintln(c.streams.Out, strings.Join(lines, "\n"))
	return err
}
