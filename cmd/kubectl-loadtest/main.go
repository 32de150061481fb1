package main

import (
	"context"
	"io"
	"log"
	"os"
	"os/signal"
	"syscall"

	"github.com/go-logr/logr"
	"golang.org/x/term"
	"k8s.io/klog/v2"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/command"
)

func main() {
	// What the client libraries log is either returned as an error as well, or no
	// concern of the person at the keyboard.
	ctrllog.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())
	log.SetOutput(io.Discard) // net/http has a line for each odd frame that a target sends
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := command.Execute(ctx, os.Args[1:], command.Streams{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Size: size(os.Stderr),
	})
	stop()
	os.Exit(code)
}

// size returns how to ask for the size of a terminal, nil if f is none, or one that
// cannot move its cursor.
func size(f *os.File) func() (columns, rows int) {
	fd := int(f.Fd())
	if !term.IsTerminal(fd) || os.Getenv("TERM") == "dumb" {
		return nil
	}
	return func() (int, int) {
		const usualColumns, usualRows = 80, 24
		if columns, rows, err := term.GetSize(fd); err == nil && columns > 0 && rows > 0 {
			return columns, rows
		}
		return usualColumns, usualRows
	}
}
