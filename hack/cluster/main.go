package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	findSystemPrograms()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	switch err := run(ctx, os.Args[1:]); {
	case err == nil, errors.Is(err, flag.ErrHelp):
	case errors.As(err, &usageError{}):
		fmt.Fprintln(os.Stderr, "cluster:", err)
		os.Exit(2)
	default:
		fmt.Fprintln(os.Stderr, "cluster:", err)
		os.Exit(1)
	}
}

// findSystemPrograms adds the folders of root's programs, which a shell that
// became root by su does not have.
func findSystemPrograms() {
	os.Setenv("PATH", os.Getenv("PATH")+":/usr/local/sbin:/usr/sbin:/sbin")
}

// usageError is a mistake in the command line.
type usageError struct{ error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// run finds the command and runs it.
func run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		printHelp(os.Stderr)
		return usagef("which command?")
	}
	switch args[0] {
	case "help", "-h", "-help", "--help":
		printHelp(os.Stdout)
		return nil
	}
	if c := find(args[0]); c != nil {
		return c.start(ctx, args[1:])
	}
	return usagef("no command %q: see cluster help", args[0])
}

func find(name string) *command {
	for i := range commands {
		if commands[i].name == name {
			return &commands[i]
		}
	}
	return nil
}
