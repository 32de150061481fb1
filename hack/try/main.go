package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/display"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/exitcode"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/local"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/localcommand"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/serve"
)

func main() {
	log.SetOutput(io.Discard) // net/http has a line for each odd frame that a target sends
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx)
	stop()
	os.Exit(code)
}

func run(ctx context.Context) int {
	if len(os.Args) == 2 && os.Args[1] == localcommand.WorkerCommand {
		return failed(ctx, work(ctx))
	}
	system := flag.String("serve", "shortener", "the system that is started and tested: "+strings.Join(serve.Names(), ", "))
	page := flag.String("html", "", "file to write the report to as a page for a browser, too")
	flag.Parse()
	if flag.NArg() > 0 {
		return failed(ctx, fmt.Errorf("%q is no flag: -h lists them", flag.Arg(0)))
	}
	runner := &localcommand.Runner{Out: os.Stdout, Err: os.Stderr, Size: display.SizeOf(os.Stderr), Admit: admitted}
	_, err := runner.Try(ctx, *system, *page)
	return failed(ctx, err)
}

// work is what a run on this machine starts.
func work(ctx context.Context) error {
	signal.Ignore(os.Interrupt) // the terminal's is for the process that started this one
	return local.Worker(context.WithoutCancel(ctx), os.Stdin, "try", slog.New(slog.NewTextHandler(os.Stderr, nil)))
}

// failed is the exit code of an error, which is printed unless it is a verdict, that the report has.
func failed(ctx context.Context, err error) int {
	var verdict exitcode.Verdict
	switch {
	case err == nil:
		return exitcode.Passed
	case errors.As(err, &verdict):
		return verdict.Code
	}
	_, _ = fmt.Fprintln(os.Stderr, "error: "+err.Error())
	if ctx.Err() != nil {
		return exitcode.Interrupted
	}
	return exitcode.Error
}
