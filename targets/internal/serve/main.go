package serve

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// Main runs a target's command until it is done, or until SIGINT or SIGTERM ends
// its context, and ends the process with the exit code of its error.
func Main(name string, run func(context.Context) error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(ExitCode(name, run(ctx), os.Stderr))
}

// ExitCode reports an error of the named command to out, and returns the exit
// code: 0 for nil and for a request of help, else 1.
func ExitCode(name string, err error, out io.Writer) int {
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return 0
	}
	fmt.Fprintf(out, "%s: %v\n(see %s --help)\n", name, err, name)
	return 1
}
