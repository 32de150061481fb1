package command

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/serve"
	"github.com/loadtest-dev/loadtest-operator/config/samples"
)

func (c *config) try() *cobra.Command {
	var system, page string
	var ui liveOptions
	command := &cobra.Command{
		Use:   "try",
		Short: "Run a load test of 20 seconds against a reference system in this process",
		Long: "Start a reference system inside this process, run a load test of some 20 seconds\n" +
			"against it on this machine, and print its report. Nothing else is needed, and nothing\n" +
			"stays behind. The last line has the verdict.\n\n" + exitCodes,
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
				_, err := c.runTry(cmd.Context(), system, page, live)
				return err
			})
		},
	}
	ui.bind(command.Flags())
	command.Flags().StringVar(&page, "html", "", "File to write the report to as a page for a browser, too")
	command.Flags().StringVar(&system, "serve", "shortener", "The system to start: "+oneOf(serve.Names()))
	return command
}

// runTry returns what came of the run, also with an error that is its verdict.
func (c *config) runTry(ctx context.Context, system, page string, live *live) (came outcome, err error) {
	if err := serve.Check(system); err != nil {
		return came, err
	}
	name := "try-" + serve.Service(system) + ".yaml"
	file, err := samples.Files.Open(name)
	if err != nil {
		return came, err
	}
	defer func() { _ = file.Close() }()
	tests, err := parse(name, file, checkLoadTest)
	if err != nil {
		return came, err
	}
	code, came, err := c.runTests(ctx, tests, nil, &localOptions{serve: system, output: "text"}, live)
	if err != nil {
		return came, err
	}
	if err := c.writePage(came, page); err != nil {
		return came, err
	}
	if _, err := fmt.Fprintf(c.streams.Out, "\n%s\n", sentence(came.test)); err != nil {
		return came, fmt.Errorf("write the last line: %w", err)
	}
	return came, exit(code)
}

// writePage writes the report as a page, if a file was named for it.
func (c *config) writePage(o outcome, file string) error {
	if file == "" {
		return nil
	}
	data, err := render(o.test, o.archived, "html", "")
	if err == nil {
		err = os.WriteFile(file, data, 0o600)
	}
	if err != nil {
		return fmt.Errorf("--html %s: %w", file, err)
	}
	_, err = fmt.Fprintf(c.streams.Out, "\nThe page for a browser: %s\n", file)
	return err
}

// sentence is the verdict in a line, and why.
func sentence(lt *v1beta1.LoadTest) string {
	line := "try: " + strings.ToUpper(string(lt.Status.Verdict))
	if why := report.Judgement(&lt.Status); why != "" {
		return line + ": " + why
	}
	return line
}

// oneOf lists what a flag may be.
func oneOf(names []string) string { return strings.Join(names, ", ") }
