package command

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/exitcode"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/serve"
)

func (c *config) try() *cobra.Command {
	var system, page string
	var ui liveOptions
	command := &cobra.Command{
		Use:   "try",
		Short: "Run a load test of 20 seconds against a reference system in this process",
		Long: "Start a reference system inside this process, run a load test of some 20 seconds\n" +
			"against it on this machine, and print its report. Nothing else is needed, and nothing\n" +
			"stays behind. The last line has the verdict.\n\n" + exitcode.LocalHelp,
		Example: "  # A URL shortener, a ladder of users that read and write\n" +
			"  kubectl loadtest try\n\n" +
			"  # A rate limiter that keeps its contract, and one that does not: the audit notices\n" +
			"  kubectl loadtest try --serve ratelimiter\n" +
			"  kubectl loadtest try --serve ratelimiter-racy\n\n" +
			"  # A stand-in for a server of a language model\n" +
			"  kubectl loadtest try --serve tokens\n\n" +
			"  # With a page in the browser that follows it\n" +
			"  kubectl loadtest try --ui\n\n" +
			"  # What is sent: the same file runs in a cluster\n" +
			"  cat config/samples/try-shortener.yaml",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := ui.check(cmd.Flags()); err != nil {
				return err
			}
			return c.withLive(cmd.Context(), &ui, func(live *live) error {
				_, err := c.runner(live).Try(cmd.Context(), system, page)
				return err
			})
		},
	}
	ui.bind(command.Flags())
	command.Flags().StringVar(&page, "html", "", "File to write the report to as a page for a browser, too")
	command.Flags().StringVar(&system, "serve", "shortener", "The system to start: "+oneOf(serve.Names()))
	return command
}

// oneOf lists what a flag may be.
func oneOf(names []string) string { return strings.Join(names, ", ") }
