package command

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/display"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/progress"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report"
)

func (c *config) watch() *cobra.Command {
	return &cobra.Command{
		Use:     "watch NAME",
		Short:   "Follow a LoadTest to its end and print its report",
		Long:    "Follow a LoadTest to its end and print its report.\n\n" + exitCodes,
		Example: "  kubectl loadtest watch burst -n limiter",
		Args:    oneName,
		RunE: func(cmd *cobra.Command, args []string) error {
			cluster, err := c.connect()
			if err != nil {
				return err
			}
			lt := &v1alpha1.LoadTest{ObjectMeta: metav1.ObjectMeta{Namespace: cluster.namespace, Name: args[0]}}
			code, err := c.followAndReport(cmd.Context(), cluster, lt)
			if err != nil {
				return err
			}
			return exit(code)
		},
	}
}

func (c *config) display() display.Display {
	if c.streams.Width == nil {
		return &display.Log{W: c.streams.Err}
	}
	return &display.Terminal{W: c.streams.Err, Width: c.streams.Width}
}

// followAndReport follows a LoadTest and prints its report; the code is that of
// its verdict.
func (c *config) followAndReport(ctx context.Context, cluster *cluster, lt *v1alpha1.LoadTest) (int, error) {
	f := &follower{WithWatch: cluster.WithWatch, display: c.display(), latest: lt, retry: retry}
	finished, err := f.follow(ctx)
	switch {
	case ctx.Err() != nil:
		return 0, fmt.Errorf("interrupted, but LoadTest %s/%s goes on\n  follow it again:  %s\n  end it:           %s",
			lt.Namespace, lt.Name, commandLine("watch", lt.Namespace, lt.Name), terminateLine(lt))
	case err != nil:
		return 0, fmt.Errorf("follow LoadTest %s/%s: %w", lt.Namespace, lt.Name, err)
	}
	f.display.Say(time.Now(), progress.Line(finished))
	if _, err := fmt.Fprint(c.streams.Out, report.Text(finished)); err != nil {
		return 0, fmt.Errorf("write the report: %w", err)
	}
	return exitCode(finished.Status.Verdict), nil
}

// oneName takes the argument NAME.
func oneName(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("%s takes the NAME of one LoadTest, %d given; kubectl get loadtests lists them", cmd.Name(), len(args))
	}
	return nil
}

func commandLine(verb, namespace, name string) string {
	return fmt.Sprintf("kubectl loadtest %s %s -n %s", verb, name, namespace)
}

func terminateLine(lt *v1alpha1.LoadTest) string {
	return fmt.Sprintf(`kubectl patch loadtest %s -n %s --type=merge -p '{"spec":{"terminate":true}}'`, lt.Name, lt.Namespace)
}
