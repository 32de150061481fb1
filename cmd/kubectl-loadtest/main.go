package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/term"

	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/command"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := command.Execute(ctx, os.Args[1:], command.Streams{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Width: width(os.Stderr),
	})
	stop()
	os.Exit(code)
}

// width returns how to ask for the width of a terminal, nil if f is none.
func width(f *os.File) func() int {
	fd := int(f.Fd())
	if !term.IsTerminal(fd) {
		return nil
	}
	return func() int {
		const usual = 80
		if columns, _, err := term.GetSize(fd); err == nil && columns > 0 {
			return columns
		}
		return usual
	}
}
